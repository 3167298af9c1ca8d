// Draws every section; one that fails says so and leaves the others alone.

for (const render of [renderError, renderSummary, renderGraphs, renderDispatchTable, renderMemory, renderPhases, renderArtifact, renderTiming]) {
  try {
    render();
  } catch (error) {
    console.error(error);
    document.querySelector("main").append(el("p", { class: "empty" }, `${render.name} failed: ${error}`));
  }
}
document.documentElement.dataset.ready = "true";
