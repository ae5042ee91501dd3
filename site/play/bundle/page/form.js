"use strict";
// The form, and its state in the fragment of the address: what a link shares.

const $ = id => document.getElementById(id);
const letters = ["a", "b"];
let book;

const entry = () => book.labs.find(l => l.name === $("lab").value);
const kindOf = (lab, name) => book.kinds.find(k => k.name === (lab.schemes.find(s => s.name === name)?.kind ?? name));

function element(tag, props, ...children) {
  const e = Object.assign(document.createElement(tag), props);
  e.append(...children);
  return e;
}

// fillBook offers the labs.
function fillBook() {
  $("lab").replaceChildren(...book.labs.map(l => element("option", {value: l.name, textContent: l.name + ": " + l.title})));
}

// fillLab shows a lab, with its own values.
function fillLab() {
  const lab = entry();
  for (const field of ["load", "flows", "seed"]) $(field).value = lab[field];
  document.querySelectorAll(".by-load").forEach(e => { e.hidden = !lab.by_load; e.style.display = lab.by_load ? "" : "none"; });
  $("look").textContent = lab.look;
  $("facts").textContent = lab.facts;
  letters.forEach((letter, i) => fillSide(letter, lab.sides[i].scheme, {}));
}

// fillSide offers the schemes of the lab and of the table, and the parameters of the one
// that is chosen.
function fillSide(letter, chosen, params) {
  const lab = entry(), side = document.querySelector(".side." + letter);
  const select = element("select", {id: letter, ariaLabel: "Scheme"},
    element("optgroup", {label: "of the lab"}, ...lab.schemes.map(s => element("option", {value: s.name, textContent: s.name}))),
    element("optgroup", {label: "with its defaults"}, ...book.kinds.filter(k => !lab.schemes.some(s => s.name === k.name)).map(k => element("option", {value: k.name, textContent: k.name}))));
  select.value = chosen;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.onchange = () => { fillSide(letter, select.value, {}); remember(); };
  const kind = kindOf(lab, select.value), own = lab.schemes.find(s => s.name === select.value)?.params ?? {};
  const first = kind.parameters.find(p => p.name === "threshold") ?? kind.parameters[0];
  const field = p => element("label", {title: p.doc}, p.name, element("input", {
    name: letter + "." + p.name, value: params[p.name] ?? own[p.name] ?? "", placeholder: p.default || p.type,
  }));
  const more = kind.parameters.filter(p => p !== first);
  const fold = element("details", {open: more.some(p => p.name in params)}, element("summary", {textContent: more.length + " more parameters"}),
    element("div", {className: "params"}, ...more.map(field)));
  side.replaceChildren(side.firstElementChild, select, element("p", {className: "note", textContent: kind.doc}));
  if (first) side.append(element("div", {className: "params"}, field(first)));
  if (more.length) side.append(fold);
}

// changed are the parameters of a side that are not the lab's own.
function changed(letter) {
  const own = entry().schemes.find(s => s.name === $(letter).value)?.params ?? {}, out = {};
  for (const input of document.querySelectorAll(`.side.${letter} .params input`)) {
    const name = input.name.slice(2), value = input.value.trim();
    if (value && value !== own[name]) out[name] = value;
  }
  return out;
}

// asked is what the form asks for.
function asked() {
  const lab = entry();
  return {
    lab: lab.name, load: lab.by_load ? $("load").value : "", flows: lab.by_load ? $("flows").value : "", seed: $("seed").value,
    sides: letters.map(letter => ({scheme: $(letter).value, params: changed(letter)})),
  };
}

// remember writes the form into the address.
function remember() {
  const ask = asked(), words = new URLSearchParams({lab: ask.lab});
  for (const field of ["load", "flows", "seed"]) if (ask[field] && ask[field] !== entry()[field]) words.set(field, ask[field]);
  letters.forEach((letter, i) => {
    words.set(letter, ask.sides[i].scheme);
    for (const [name, value] of Object.entries(ask.sides[i].params)) words.set(letter + "." + name, value);
  });
  history.replaceState(null, "", "#" + words);
}

// recall fills the form from the address, and tells whether that names a lab.
function recall() {
  const words = new URLSearchParams(location.hash.slice(1));
  const known = book.labs.some(l => l.name === words.get("lab"));
  if (known) $("lab").value = words.get("lab");
  fillLab();
  if (!known) return false;
  for (const field of ["load", "flows", "seed"]) if (words.has(field)) $(field).value = words.get(field);
  letters.forEach((letter, i) => {
    const params = {};
    for (const [key, value] of words) if (key.startsWith(letter + ".")) params[key.slice(2)] = value;
    fillSide(letter, words.get(letter) ?? entry().sides[i].scheme, params);
  });
  return true;
}
