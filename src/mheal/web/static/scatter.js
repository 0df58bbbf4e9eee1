// Points on a canvas by WebGL 2: a million of them, to move, zoom and take with a lasso.
//
// All points are drawn once the view rests. While it moves, only as many are drawn as the frames allow: their order in
// memory is scattered, so that the first of them show the whole map.

import { COLOURS } from "./state.js";

const VERTEX = `#version 300 es
in vec2 place; in vec4 colour; uniform vec2 scale; uniform vec2 shift; uniform float size; out vec4 ink;
void main() { gl_Position = vec4(place * scale + shift, 0.0, 1.0); gl_PointSize = size; ink = colour; }`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 ink; uniform float round; out vec4 pixel;
void main() {
  float far = length(gl_PointCoord - 0.5) * 2.0;
  if (round > 0.5 && far > 1.0) discard;
  pixel = round > 1.5 && far > 0.72 ? vec4(1.0, 1.0, 1.0, ink.a) : ink;
}`;
const FRAME = 28; // milliseconds that a frame may take while the view moves
const REST = 140; // milliseconds without a change, after which all points are drawn

export class Scatter {
  // places: whole coordinates of the points, x and y in turns, from 0 to 65535
  constructor(canvas, places) {
    this.canvas = canvas;
    this.places = places;
    this.n = places.length / 2;
    this.view = { x: 0.5, y: 0.5, zoom: 1 };
    this.some = Math.min(this.n, 60_000);
    this.marks = { n: 0, places: new Uint16Array(0), colours: new Uint8Array(0) };
    this.frames = 0;
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: false, powerPreference: "high-performance" });
    if (!this.gl) throw new Error("This browser has no WebGL 2, which the map needs. Review lists all items.");
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.prepare());
    new ResizeObserver(() => this.draw()).observe(canvas);
    this.scattered = scattered(places);
    this.prepare();
  }

  prepare() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "place");
    gl.bindAttribLocation(program, 1, "colour");
    gl.linkProgram(program);
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(["scale", "shift", "size", "round"].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = { all: gl.createBuffer(), marks: gl.createBuffer(), colours: gl.createBuffer() };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.all);
    gl.bufferData(gl.ARRAY_BUFFER, this.scattered, gl.STATIC_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.setMarks(this.marks.places, this.marks.colours);
  }

  // Points in colour, above the others: four numbers of a colour a point.
  setMarks(places, colours) {
    const gl = this.gl;
    this.marks = { n: places.length / 2, places, colours };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.marks);
    gl.bufferData(gl.ARRAY_BUFFER, places, gl.DYNAMIC_DRAW);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.colours);
    gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    this.draw();
  }

  // Draw at the next frame; `moving` allows fewer points.
  draw(moving = false) {
    this.moving = moving;
    clearTimeout(this.resting);
    if (moving) this.resting = setTimeout(() => this.draw(), REST);
    this.asked ??= requestAnimationFrame((now) => {
      this.asked = null;
      if (this.moving && this.last && now - this.last < 200) {
        if (now - this.last > FRAME) this.some = Math.max(5_000, this.some * 0.7);
        else if (now - this.last < FRAME * 0.7) this.some = Math.min(this.n, this.some * 1.1);
      }
      this.last = this.moving ? now : 0;
      this.paint();
    });
  }

  paint() {
    const { gl, canvas, uniforms } = this;
    const ratio = Math.min(devicePixelRatio, 2);
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [sx, sy] = this.scales();
    gl.uniform2f(uniforms.scale, 2 * sx, -2 * sy);
    gl.uniform2f(uniforms.shift, -2 * sx * this.view.x, 2 * sy * this.view.y);
    const size = Math.max(this.n > 200_000 ? 1 : 1.6, Math.min(9, 260 / Math.sqrt(this.n))) * Math.min(4, this.view.zoom ** 0.4) * ratio;
    const grey = isDark() ? 0.55 : 0.6;
    gl.enableVertexAttribArray(0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.all);
    gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, 0, 0);
    gl.disableVertexAttribArray(1);
    gl.vertexAttrib4f(1, grey, grey, grey + 0.05, this.n > 200_000 ? 0.35 : 0.55);
    gl.uniform1f(uniforms.round, this.n < 50_000 ? 1 : 0);
    gl.uniform1f(uniforms.size, size);
    gl.drawArrays(gl.POINTS, 0, this.moving ? Math.min(this.n, Math.round(this.some)) : this.n);
    if (this.marks.n) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.marks);
      gl.vertexAttribPointer(0, 2, gl.UNSIGNED_SHORT, true, 0, 0);
      gl.enableVertexAttribArray(1);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.colours);
      gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
      gl.uniform1f(uniforms.round, 2);
      gl.uniform1f(uniforms.size, Math.max(11 * ratio, size * 1.6));
      gl.drawArrays(gl.POINTS, 0, this.marks.n);
    }
    this.frames++;
    canvas.dataset.frames = String(this.frames);
  }

  // Parts of the canvas that the whole map takes, so that it keeps its shape.
  scales() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const side = 0.94 * Math.min(width, height) * this.view.zoom;
    return [side / width, side / height];
  }

  // Where a place on the canvas is on the map, from 0 to 1.
  at(x, y) {
    const [sx, sy] = this.scales();
    return [this.view.x + (x / this.canvas.clientWidth - 0.5) / sx, this.view.y + (y / this.canvas.clientHeight - 0.5) / sy];
  }

  move(dx, dy) {
    const [sx, sy] = this.scales();
    this.view.x -= dx / this.canvas.clientWidth / sx;
    this.view.y -= dy / this.canvas.clientHeight / sy;
    this.draw(true);
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const before = this.at(x, y);
    this.view.zoom = Math.min(400, Math.max(0.5, this.view.zoom * factor));
    const after = this.at(x, y);
    this.view.x += before[0] - after[0];
    this.view.y += before[1] - after[1];
    this.draw(true);
  }

  // The points nearest to a place on the canvas, at most so many, within so many pixels.
  near(x, y, most = 1, pixels = 14) {
    const [mx, my] = this.at(x, y).map((one) => one * 65535);
    const limit = ((pixels / this.canvas.clientWidth / this.scales()[0]) * 65535) ** 2;
    const found = [];
    for (let i = 0; i < this.n; i++) {
      const away = (this.places[2 * i] - mx) ** 2 + (this.places[2 * i + 1] - my) ** 2;
      if (away <= limit) found.push([away, i]);
    }
    return found.sort(([a], [b]) => a - b).slice(0, most).map(([, i]) => i);
  }

  // The points inside a polygon of places on the canvas.
  inside(corners) {
    const polygon = corners.map(([x, y]) => this.at(x, y).map((one) => one * 65535));
    const xs = polygon.map(([x]) => x), ys = polygon.map(([, y]) => y);
    const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const found = [];
    for (let i = 0; i < this.n; i++) {
      const x = this.places[2 * i], y = this.places[2 * i + 1];
      if (x < box[0] || x > box[1] || y < box[2] || y > box[3]) continue;
      let within = false;
      for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
        const [ax, ay] = polygon[a], [bx, by] = polygon[b];
        if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
      }
      if (within) found.push(i);
    }
    return found;
  }
}

// The same points in an order whose every beginning is spread over all of them.
function scattered(places) {
  const n = places.length / 2;
  const made = new Uint16Array(places.length);
  let step = Math.max(1, Math.round(n * 0.6180339887));
  const common = (a, b) => (b ? common(b, a % b) : a);
  while (common(step, n) > 1) step++;
  for (let i = 0, at = 0; i < n; i++, at = (at + step) % n) {
    made[2 * i] = places[2 * at];
    made[2 * i + 1] = places[2 * at + 1];
  }
  return made;
}

export function isDark() {
  const { theme } = document.documentElement.dataset;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export const rgb = COLOURS.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
