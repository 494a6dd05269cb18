/* A button on each block of code that copies it, without prompts and what was printed. */
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div:not(.output) > div.highlight")) {
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("pre").cloneNode(true);
      code.querySelectorAll(".gp, .go").forEach((piece) => piece.remove());
      await navigator.clipboard.writeText(code.textContent.trimEnd());
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});

/* A page as slides, at its address with ?slides: one for each heading, and one for each further
   text after code, which repeats the picture that it explains. Solutions and folded code are left
   out. */
addEventListener("load", async () => {
  if (!new URLSearchParams(location.search).has("slides")) return;
  await window.MathJax?.startup?.promise;
  const article = document.querySelector("article");
  const omitted = (each) => each.matches("details:not(.hide), .tag_solution, script");
  const isText = (each) => !each.matches(".cell");
  const again = (picture) => {
    const copy = picture.cloneNode();
    copy.classList.add("again");
    return copy;
  };
  const slides = [];
  const read = (section) => {
    const heading = [...section.children].find((each) => /^H[1-6]$/.test(each.tagName));
    let slide = null;
    for (const each of [...section.children]) {
      if (each.matches("section")) read(each);
      else if (!omitted(each)) {
        const last = slide?.lastElementChild;
        if (!slide || (isText(each) && !isText(last))) {
          slide = document.createElement("section");
          slide.className = "slide";
          slides.push(slide);
          if (heading && each !== heading) slide.append(heading.cloneNode(true));
          const pictures = last?.querySelectorAll(".cell_output img") ?? [];
          for (const picture of pictures) slide.append(again(picture));
        }
        slide.append(each);
      }
    }
  };
  read(article.querySelector("section"));
  article.replaceChildren(...slides);
  document.documentElement.classList.add("slides");
  const bar = document.createElement("nav");
  bar.className = "slides-bar";
  bar.setAttribute("aria-label", "Slides");
  const place = document.createElement("output");
  let shown = 0;
  const show = (number) => {
    shown = Math.min(Math.max(number, 0), slides.length - 1);
    slides.forEach((slide, i) => slide.classList.toggle("shown", i === shown));
    place.textContent = `${shown + 1} / ${slides.length}`;
    history.replaceState(null, "", `#${shown + 1}`);
    scrollTo(0, 0);
  };
  const leave = () => location.assign(location.pathname);
  const moves = { Previous: () => show(shown - 1), Next: () => show(shown + 1), Leave: leave };
  for (const [name, move] of Object.entries(moves)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", move);
    bar.append(button);
  }
  bar.children[1].before(place);
  document.body.append(bar);
  const keys = {
    ArrowRight: moves.Next, PageDown: moves.Next, ArrowLeft: moves.Previous,
    PageUp: moves.Previous, Home: () => show(0), End: () => show(Infinity), Escape: leave,
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  show((parseInt(location.hash.slice(1)) || 1) - 1);
});
