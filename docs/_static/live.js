/* The live page: sliders for angles, rates and accelerations of the joints, torques as numbers, bars and a curve. */
(async function () {
  "use strict";
  const place = document.getElementById("live-robot");
  if (!place) return;
  const { inputs, call } = await globalThis.live_robot.load();
  const names = inputs[0].entries, n = names.length;
  const state = { q: Array(n).fill(0), v: Array(n).fill(0), a: Array(n).fill(0) };
  const ranges = { q: [Math.PI, "rad"], v: [2, "rad/s"], a: [10, "rad/s²"] };
  const start = [0, -0.5, 0, -2, 0, 1.5, 0.7];
  start.slice(0, n).forEach((x, k) => (state.q[k] = x));
  let chosen = Math.min(1, n - 1);

  const tag = (name, text, parent) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (parent) parent.append(made);
    return made;
  };
  const table = tag("table", "", place);
  table.className = "live-table";
  const head = tag("tr", "", tag("thead", "", table));
  ["joint", "angle q", "rate v", "acceleration a", "torque [N m]"].forEach((x) => tag("th", x, head));
  const body = tag("tbody", "", table);
  const outputs = [];
  names.forEach((name, k) => {
    const row = tag("tr", "", body);
    tag("td", name.replace(/^panda_/, ""), row).addEventListener("click", () => { chosen = k; show(); });
    for (const x of ["q", "v", "a"]) {
      const cell = tag("td", "", row), slider = tag("input", "", cell);
      slider.type = "range";
      slider.min = -ranges[x][0];
      slider.max = ranges[x][0];
      slider.step = "any";
      slider.value = state[x][k];
      slider.id = `live-${x}${k}`;
      slider.setAttribute("aria-label", `${x} of ${name} in ${ranges[x][1]}`);
      slider.addEventListener("input", () => { state[x][k] = Number(slider.value); chosen = k; show(); });
    }
    outputs.push(tag("td", "", row));
  });
  const canvas = tag("canvas", "", place);
  canvas.className = "live-plot";
  const told = tag("p", "", place);

  function show() {
    const begin = performance.now(), { tau } = call(state), first = performance.now() - begin;
    tau.forEach((x, k) => {
      outputs[k].textContent = x.toFixed(3);
      outputs[k].dataset.torque = x; // all digits
      outputs[k].parentElement.classList.toggle("live-chosen", k === chosen);
    });
    place.dataset.state = JSON.stringify(state);
    const m = 181, from = performance.now(), curves = [];
    for (let i = 0; i < m; i++) {
      const q = state.q.slice();
      q[chosen] = -Math.PI + (2 * Math.PI * i) / (m - 1);
      curves.push(call({ ...state, q }).tau);
    }
    const each = ((performance.now() - from) / m) * 1000;
    told.textContent = `Curves: torques over the angle of ${names[chosen]}; one evaluation takes about ${each.toFixed(1)} µs in this browser.`;
    draw(curves, tau);
  }

  function draw(curves, tau) {
    const ratio = globalThis.devicePixelRatio || 1, width = place.clientWidth, height = 260;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const ink = getComputedStyle(place).color, left = 46, right = 8, top = 10, bottom = 24;
    const most = 1.1 * Math.max(1, ...curves.flat().map(Math.abs));
    const x = (angle) => left + ((angle + Math.PI) / (2 * Math.PI)) * (width - left - right);
    const y = (torque) => top + ((most - torque) / (2 * most)) * (height - top - bottom);
    pen.font = "12px sans-serif";
    pen.fillStyle = pen.strokeStyle = ink;
    pen.globalAlpha = 0.35;
    for (const t of [-most, 0, most].map((z) => z / 1.1)) {
      pen.beginPath(); pen.moveTo(left, y(t)); pen.lineTo(width - right, y(t)); pen.stroke();
    }
    pen.globalAlpha = 1;
    for (const t of [-most, 0, most].map((z) => z / 1.1)) pen.fillText(t.toFixed(0), 4, y(t) + 4);
    for (const [angle, word] of [[-Math.PI, "−π"], [0, "0"], [Math.PI - 0.12, "π"]]) pen.fillText(word, x(angle) - 4, height - 6);
    pen.fillText("N m", 4, 12);
    tau.forEach((_, k) => {
      pen.strokeStyle = pen.fillStyle = `hsl(${(k * 47) % 360} 65% 48%)`;
      pen.lineWidth = k === chosen ? 2.5 : 1.2;
      pen.beginPath();
      curves.forEach((all, i) => pen.lineTo(x(-Math.PI + (2 * Math.PI * i) / (curves.length - 1)), y(all[k])));
      pen.stroke();
      pen.beginPath(); pen.arc(x(state.q[chosen]), y(tau[k]), 3.5, 0, 2 * Math.PI); pen.fill();
    });
  }
  addEventListener("resize", show);
  show();
  place.dataset.ready = "yes";
})();
