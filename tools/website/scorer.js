/* Which pages a search finds first: guides and the book, then the reference, source notebooks last.
   A word that a page has in its references only counts less. */
var Scorer = {
  score: ([page, title, anchor, about, score, file, kind]) => {
    const words = new URLSearchParams(location.search).get("q").toLowerCase().match(/\w+/g) || [];
    const named = words.filter((word) => title.toLowerCase().includes(word.slice(0, 6)));
    const read = /^(index$|guides\/|book\/|papers\/|metrics\/compare|problems\/certificate)/;
    const area = read.test(page) ? 6 : page.startsWith("reference/") ? 0 : -6;
    const list = page.endsWith("/contents");
    const cited = new Set(Search._index.cited[page]);
    const stemmer = new Stemmer();
    const only = kind === "text" && words.some((word) => cited.has(stemmer.stemWord(word)));
    return score + area + (10 * named.length) / (words.length || 1) - 8 * list - 8 * only;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
