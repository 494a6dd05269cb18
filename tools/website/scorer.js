/* Which pages a search finds first: guides before chapters, where they answer equally well. */
var Scorer = {
  score: ([page, title, anchor, about, score]) =>
    score + (page === "index" || page.startsWith("guides/") ? 6 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
