"use strict";

// What the pages of runs and sweeps have in common.

const find = id => document.getElementById(id);

// make builds an element; what it holds is text or elements, never markup.
function make(tag, attributes = {}, ...children) {
  const svg = ["svg", "path", "rect", "text"].includes(tag);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...children);
  return e;
}

async function get(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// post asks for something to be done, and returns what is answered.
async function post(path, what) {
  const response = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(what)});
  if (!response.ok) throw new Error((await response.text()).trim());
  return response.status === 204 ? null : response.json();
}

function trouble(error) {
  find("trouble").textContent = error ? `No answer: ${error.message}` : "";
  find("trouble").hidden = !error;
}

// repeat does something again and again, as long as somebody looks.
async function repeat(something, every) {
  if (!document.hidden) {
    try {
      await something();
      trouble(null);
    } catch (error) {
      trouble(error);
    }
  }
  setTimeout(repeat, every, something, every);
}
