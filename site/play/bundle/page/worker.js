"use strict";
// Runs the simulator beside the page, a slice at a time.
importScripts("wasm_exec.js");

let round = 0; // of the run that is going on

function call(name, ...args) {
  const answer = JSON.parse(aqmlab[name](...args));
  if (answer?.error) throw new Error(answer.error);
  return answer;
}

// guard runs a step, whose error ends the round.
function guard(step) {
  try {
    step();
  } catch (e) {
    round++;
    postMessage({error: e.message});
  }
}

function advance(mine) {
  if (mine !== round) return;
  guard(() => {
    const frame = call("advance");
    postMessage({frame});
    if (frame.sides.every(s => s.over)) postMessage({result: call("result")});
    else setTimeout(advance, 0, mine);
  });
}

onmessage = async ({data}) => {
  if (data.module) {
    const go = new Go();
    go.run(await WebAssembly.instantiate(data.module, go.importObject));
    guard(() => postMessage({book: call("book")}));
  }
  if (data.stop) round++;
  if (data.ask) guard(() => {
    const mine = ++round;
    postMessage({file: call("open", JSON.stringify(data.ask))});
    setTimeout(advance, 0, mine);
  });
};
