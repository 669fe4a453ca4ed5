// Pictures of screens are light or dark as the theme of the book is; without this, as the reader's system is.
(function () {
  const root = document.documentElement;
  const pictures = Array.from(document.querySelectorAll('picture img[src*="-light."]'));
  for (const img of pictures) {
    img.dataset.light = img.getAttribute("src");
    img.parentElement.querySelectorAll("source").forEach((source) => source.remove());
  }
  function show() {
    const dark = ["coal", "navy", "ayu"].some((theme) => root.classList.contains(theme));
    for (const img of pictures) {
      const src = dark ? img.dataset.light.replace("-light.", "-dark.") : img.dataset.light;
      if (img.getAttribute("src") !== src) img.setAttribute("src", src);
    }
  }
  show();
  new MutationObserver(show).observe(root, { attributes: true, attributeFilter: ["class"] });
})();
