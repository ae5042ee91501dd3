"use strict";

// How often the runs that were started from here are looked at, in ms.
const jobsEvery = 1000;

// What the states of jobs are called.
const jobWords = {running: "going on", stopping: "being stopped", stopped: "stopped", done: "done", failed: "failed"};

let offer = null; // what can be run; null: not asked for yet
const shownJobs = new Map(); // the parts of each job, by its number

const lab = () => offer.labs.find(l => l.name === find("lab").value);

// fillLab shows what the chosen lab has.
function fillLab() {
  const chosen = lab();
  find("schemes").replaceChildren(make("legend", {}, `Schemes of "${chosen.title}"`), ...chosen.schemes.map(name => {
    const box = make("input", {type: "checkbox", name: "scheme", value: name});
    box.checked = true;
    return make("label", {}, box, ` ${name}`);
  }));
  find("loads").placeholder = list(chosen.loads);
  find("seeds").placeholder = list(chosen.seeds);
  find("flows").placeholder = chosen.flows;
}

// fillOffer shows what can be run here. A runtime that cannot says why.
async function fillOffer() {
  offer = await get("api/offer");
  find("lab").replaceChildren(...offer.labs.map(l => make("option", {value: l.name}, l.name)));
  if (offer.labs.some(l => l.name === "quickstart")) find("lab").value = "quickstart";
  find("runtime").replaceChildren(...offer.runtimes.map(r => {
    const option = make("option", {value: r.name}, `${r.name}: ${r.lacks ? `not here: ${r.lacks}` : r.doc}`);
    option.disabled = Boolean(r.lacks);
    return option;
  }));
  fillLab();
}

function blame(error) {
  find("wrong").textContent = error ? error.message : "";
  find("wrong").hidden = !error;
}

// ordered is the run that the form asks for. All schemes are those of the lab.
function ordered() {
  const schemes = [...document.querySelectorAll("#schemes input:checked")].map(box => box.value);
  if (!schemes.length) throw new Error("no scheme is chosen: want one or more");
  return {
    lab: find("lab").value, runtime: find("runtime").value, loads: find("loads").value.trim(), seeds: find("seeds").value.trim(), flows: find("flows").value.trim(),
    schemes: schemes.length === lab().schemes.length ? [] : schemes,
  };
}

async function order(event) {
  event.preventDefault();
  try {
    await post("api/start", ordered());
    blame(null);
    await lookAtJobs();
  } catch (error) {
    blame(error);
  }
}

// buildJob makes the parts of a job, which stay while it goes on.
function buildJob(job) {
  const shown = {state: make("b"), stop: make("button", {type: "button"}, "Stop"), link: make("a", {}, "report"), error: make("p", {class: "bad"}), log: make("pre")};
  shown.stop.addEventListener("click", async () => {
    try {
      await post("api/stop", {id: job.id});
      await lookAtJobs();
    } catch (error) {
      trouble(error);
    }
  });
  shown.section = make("section", {class: "job", "data-job": job.id},
    make("p", {}, make("code", {}, job.command), " ", shown.state, " ", shown.stop, " ", shown.link),
    shown.error, make("details", {}, make("summary", {}, "what it says"), shown.log));
  return shown;
}

function updateJob(shown, job) {
  shown.state.textContent = jobWords[job.state];
  shown.state.classList.toggle("bad", job.state === "failed");
  shown.stop.hidden = job.state !== "running";
  shown.link.hidden = !job.run;
  shown.link.href = `report?run=${encodeURIComponent(job.run ?? "")}`;
  shown.error.textContent = job.error ?? "";
  shown.error.hidden = !job.error;
  shown.log.textContent = (job.log ?? []).join("\n");
}

async function lookAtJobs() {
  const {allowed, jobs} = await get("api/jobs");
  find("start").hidden = !allowed;
  find("readonly").hidden = allowed;
  if (!allowed) return;
  if (!offer) await fillOffer();
  for (const job of jobs) {
    if (!shownJobs.has(job.id)) shownJobs.set(job.id, buildJob(job));
    updateJob(shownJobs.get(job.id), job);
  }
  const sections = jobs.map(job => shownJobs.get(job.id).section), there = [...find("jobs").children];
  if (sections.length !== there.length || sections.some((e, i) => e !== there[i])) find("jobs").replaceChildren(...sections);
  find("run").disabled = jobs.some(job => job.state === "running" || job.state === "stopping");
}

find("lab").addEventListener("change", fillLab);
find("order").addEventListener("submit", order);
repeat(lookAtJobs, jobsEvery);
