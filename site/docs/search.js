"use strict";
// Looks through the headings and texts of all pages. The index is loaded when it is needed.
{
  const field = document.getElementById("search"), hits = document.getElementById("hits"), menu = document.getElementById("menu");
  const up = field.dataset.up;
  let index = null;

  globalThis.searchIndex = found => {
    index = found.map(f => ({...f, low: (f.t + " " + f.x).toLowerCase(), title: f.t.toLowerCase()}));
    show();
  };

  function load() {
    if (document.getElementById("index")) return;
    document.head.append(Object.assign(document.createElement("script"), {id: "index", src: up + "/index.js"}));
  }

  // score is how well a part fits all words; 0: not at all.
  function score(part, words) {
    let sum = 0;
    for (const word of words) {
      if (!part.low.includes(word)) return 0;
      sum += 1 + (part.title.includes(word) ? 10 : 0) + Math.min(part.low.split(word).length - 1, 5);
    }
    return sum;
  }

  // around is the text about the first of the words.
  function around(part, words) {
    const at = Math.max(0, Math.min(...words.map(w => part.x.toLowerCase().indexOf(w)).map(i => i < 0 ? 0 : i)) - 40);
    return (at ? "… " : "") + part.x.slice(at, at + 130);
  }

  function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(w => w);
    hits.hidden = !words.length;
    menu.hidden = !!words.length;
    if (!index || !words.length) return;
    const best = index.map(p => [score(p, words), p]).filter(([s]) => s).sort((a, b) => b[0] - a[0]).slice(0, 20);
    hits.replaceChildren(...best.map(([, p]) => {
      const line = document.createElement("li"), link = document.createElement("a"), text = document.createElement("small");
      link.href = up + "/" + p.u;
      link.textContent = p.t === p.p ? p.t : p.p + ": " + p.t;
      text.textContent = around(p, words);
      line.append(link, text);
      return line;
    }));
    if (!best.length) hits.replaceChildren(Object.assign(document.createElement("li"), {textContent: "Nothing has all of these words."}));
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", () => { load(); show(); });
}
