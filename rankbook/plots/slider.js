// Brings the sliders of lambda on a page to life; rankbook/plots/slider.py makes what they show.
// Before this runs, or where it never does, each is a still picture at the chosen lambda.
(() => {
  "use strict";

  function start(root) {
    const data = JSON.parse(root.querySelector('script[type="application/json"]').textContent);
    const all = (name) => [...root.querySelectorAll(".rb-" + name)];
    const one = (name) => root.querySelector(".rb-" + name);
    const [list, input, back] = [one("list"), root.querySelector("input"), root.querySelector("button")];
    const rows = all("row").sort((a, b) => a.dataset.item - b.dataset.item);
    const [lines, dots] = [all("line"), all("item")];
    const calm = matchMedia("(prefers-reduced-motion: reduce)");
    const steps = Number(input.max), first = Number(input.value);
    let order = [...list.children].map((row) => Number(row.dataset.item));

    // Even steps in log lambda, falling; where the slider began it stands for the chosen one itself.
    const [origin, width] = [Math.log(data.high), Math.log(data.high) - Math.log(data.low)];
    const lambdaOf = (step) =>
      step === first ? data.chosen : Math.exp(origin - width * (step / steps));

    // Between two nodes a score is affine in 1 / lambda.
    function scoresAt(lam) {
      const last = data.lams.length - 1;
      const found = data.lams.findIndex((node) => node <= lam);
      const k = Math.max(1, found < 0 ? last : found);
      const [u, v] = [data.lams[k - 1], data.lams[k]];
      const t = Math.min(1, Math.max(0, ((u - lam) / (u - v)) * (v / lam)));
      return data.scores[k].map((after, i) => (1 - t) * data.scores[k - 1][i] + t * after);
    }

    // From 0, the lowest of the scores, to 1, the highest.
    function spread(scores) {
      const low = Math.min(...scores), span = Math.max(...scores) - low;
      return scores.map((score) => (span > 0 ? (score - low) / span : 0.5));
    }

    // At a break a curve has the value of the interval below it.
    function valueAt(lam) {
      const j = data.breaks.findIndex((end) => end < lam);
      return data.values[j < 0 ? data.breaks.length : j];
    }

    // The rows change places in the document, for whoever hears it read; then they glide there.
    function reorder(next) {
      if (next.every((item, place) => item === order[place])) return;
      const before = rows.map((row) => row.getBoundingClientRect().top);
      for (const row of rows) for (const motion of row.getAnimations()) motion.cancel();
      list.append(...next.map((item) => rows[item]));
      order = next;
      if (calm.matches) return;
      rows.forEach((row, i) => {
        const way = before[i] - row.getBoundingClientRect().top;
        const glide = [{ transform: `translateY(${way}px)` }, { transform: "none" }];
        if (way) row.animate(glide, { duration: 250, easing: "ease-out" });
      });
    }

    // proven[a][b]: 1 if a is certainly above b, 2 if certainly below, 0 if neither.
    function light() {
      order.forEach((item, place) => {
        const next = order[place + 1];
        const state = next === undefined ? 0 : Number(data.proven[item][next]);
        rows[item].classList.toggle("rb-lit", state === 1);
        rows[item].classList.toggle("rb-against", state === 2);
        rows[item].querySelector(".rb-unseen").textContent = data.words[state];
      });
    }

    function show() {
      const step = Number(input.value), lam = lambdaOf(step);
      const scores = scoresAt(lam), heights = spread(scores);
      const [left, right, top, bottom] = data.panel;
      const x = left + ((right - left) * (origin - Math.log(lam))) / width;
      reorder(scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a] || a - b));
      light();
      rows.forEach((row, i) => row.style.setProperty("--s", heights[i]));
      for (const at of all("at")) for (const end of ["x1", "x2"]) at.setAttribute(end, x);
      dots.forEach((dot, i) => {
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", bottom - heights[i] * (bottom - top));
      });
      one("lam").textContent = Number(lam.toPrecision(3));
      if (data.values) {
        const value = valueAt(lam), [floor, ceiling, least, most] = data.below;
        const share = most > least ? (value - least) / (most - least) : 0.5;
        one("dot").setAttribute("cx", x);
        one("dot").setAttribute("cy", floor - share * (floor - ceiling));
        one("value").textContent = Number(value.toPrecision(3));
        one("mark").hidden = Math.abs(value - data.optimum) > 1e-12;
      }
      back.disabled = step === first;
      const leader = rows[order[0]].querySelector(".rb-name").textContent;
      const said = one("said").innerText.replace(/\s+/g, " ").trim();
      input.setAttribute("aria-valuetext", `${said}; first: ${leader}`);
    }

    rows.forEach((row, i) => {
      row.addEventListener("pointerenter", () => lines[i].classList.add("rb-hot"));
      row.addEventListener("pointerleave", () => lines[i].classList.remove("rb-hot"));
    });
    input.addEventListener("input", show);
    back.addEventListener("click", () => {
      input.value = first;
      input.focus();
      show();
    });
    input.hidden = back.hidden = false;
    show();
  }

  for (const root of document.querySelectorAll(".rb-slider:not([data-live])")) {
    root.dataset.live = "";
    start(root);
  }
})();
