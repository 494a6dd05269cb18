/* Which pages a search finds first: guides and the book, then the reference, source notebooks last. */
var Scorer = {
  score: ([page, title, anchor, about, score]) =>
    score + (/^(index$|guides\/|book\/|papers\/)/.test(page) ? 6 : page.startsWith("reference/") ? 0 : -6),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
