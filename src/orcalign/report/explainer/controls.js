// Buttons, keys, pointers and the size of the window; then the first drawing.

$("attempt").addEventListener("change", (event) => chooseAttempt(Number(event.target.value)));
$("matcher").addEventListener("change", (event) => choose(state.a, Number(event.target.value)));
for (const radio of document.querySelectorAll("input[name=follow]")) {
  radio.addEventListener("change", () => {
    state.follow = radio.value;
    show();
  });
}
$("play").addEventListener("click", toggle);
$("back").addEventListener("click", () => seek(state.t - 1));
$("forward").addEventListener("click", () => seek(state.t + 1));
$("speed").addEventListener("change", () => {
  if (state.playing !== null) {
    stop();
    play();
  }
});
$("time").addEventListener("input", (event) => seek(Number(event.target.value)));

$("curve").addEventListener("pointerdown", (event) => {
  event.target.setPointerCapture(event.pointerId);
  seek(curve.frameAt(event));
});
$("curve").addEventListener("pointermove", (event) => {
  if (event.buttons) {
    seek(curve.frameAt(event));
  }
});

listenToMap(costMap);
listenToMap(assignmentMap);
document.addEventListener("pointerdown", (event) => {
  if (state.cell && !event.target.classList.contains("map")) {
    hideCell();
    show();
  }
});

const KEYS = {
  ArrowLeft: () => seek(state.t - 1),
  ArrowRight: () => seek(state.t + 1),
  Home: () => seek(0),
  End: () => seek(attempt().clip.last()),
  " ": toggle,
  Escape: () => {
    hideCell();
    show();
  },
};

document.addEventListener("keydown", (event) => {
  const { target, key } = event;
  // Lists and radio buttons have their own use for these keys, and a focused button is pressed by Space.
  const busy = target.matches("select, input[type=radio]") || (key === " " && target.matches("button, summary"));
  // On a longer page the keys scroll, until the videos are in sight.
  const { top, bottom } = document.querySelector(".viewer").getBoundingClientRect();
  const away = bottom < 0 || top > window.innerHeight;
  if (!(key in KEYS) || busy || away || event.ctrlKey || event.altKey || event.metaKey) {
    return;
  }
  event.preventDefault();
  KEYS[key]();
});

new ResizeObserver(show).observe($("curve"));

$("attempt").append(...attempts.map((each, k) => make("option", each.clip.name, { value: k })));
fillScores($("scores").tBodies[0], attempts, choose);
fillSettings($("settings"), report.settings);
redraws.push(show);
if (attempts.every((each) => each.wanted)) {
  $("wanted").hidden = false;
  $("wanted").querySelector("input").checked = true;
  state.follow = "wanted";
}
choose(0, 0);
