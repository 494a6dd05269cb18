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
