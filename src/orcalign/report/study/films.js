// Rows of films that are played together, each at its own rate; one that ends first waits for the others.

class FilmRow {
  constructor(row, k) {
    this.films = [];
    this.box = make("section", "", { class: "film-row", "aria-labelledby": `row-${k}` });
    const places = make("div", "", { class: "films" });
    places.append(...row.films.map((film, n) => this.figure(film, row.name, k, n)));
    this.box.append(make("h3", row.name, { id: `row-${k}` }), places);
    this.rate = Math.max(...this.films.map(({ clip }) => clip.fps), 1);
    this.last = Math.max(...this.films.map(({ clip }) => Math.ceil(clip.last() * this.rate / clip.fps)), 0);
    this.playing = null;
    if (this.last) {
      this.addControls(row.name, k);
    }
    this.go(this.last);
  }

  figure(film, task, k, n) {
    const figure = make("figure", "", { class: film.clip ? "film" : "film hole" });
    if (film.clip) {
      const canvas = make("canvas", "", { id: `film-${k}-${n}`, role: "img", "aria-label": `${film.name}, ${task}` });
      canvas.width = film.clip.width;
      canvas.height = film.clip.height;
      this.films.push({ clip: new Clip(film.clip), canvas });
      figure.append(canvas);
    } else {
      figure.append(make("p", film.hole, { class: "why" }));
    }
    const caption = make("figcaption", "");
    caption.append(make("b", film.name));
    for (const text of [film.score, film.note].filter(Boolean)) {
      caption.append(make("span", text));
    }
    if (film.link) {
      caption.append(make("a", "page of this run", { href: film.link }));
    }
    figure.append(caption);
    return figure;
  }

  addControls(task, k) {
    const controls = make("div", "", { class: "film-time" });
    this.button = make("button", "Play", { type: "button", "aria-label": `Play ${task}` });
    this.slider = make("input", "", { type: "range", id: `time-${k}`, min: 0, max: this.last, "aria-label": `Time, ${task}` });
    this.button.addEventListener("click", () => (this.playing === null ? this.play() : this.stop()));
    this.slider.addEventListener("input", () => {
      this.stop();
      this.go(Number(this.slider.value));
    });
    controls.append(this.button, this.slider);
    this.box.append(controls);
  }

  go(t) {
    this.t = t;
    for (const { clip, canvas } of this.films) {
      clip.show(canvas, Math.min(Math.floor((t * clip.fps) / this.rate + 1e-6), clip.last()));
    }
    if (this.slider) {
      this.slider.value = t;
    }
  }

  play() {
    this.stop();
    const start = this.t >= this.last ? 0 : this.t;
    const began = performance.now();
    this.go(start);
    const step = (now) => {
      const t = Math.min(start + Math.floor((Math.max(now - began, 0) / 1000) * this.rate), this.last);
      if (t > this.t) {
        this.go(t);
      }
      this.films.forEach(({ clip, canvas }) => clip.prepare(Number(canvas.dataset.frame) || 0, 4));
      if (t >= this.last) {
        this.stop();
      } else {
        this.playing = requestAnimationFrame(step);
      }
    };
    this.playing = requestAnimationFrame(step);
    this.button.textContent = "Pause";
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
  }
}

const filmRows = embedded("films").map((row, k) => new FilmRow(row, k));
$("film-rows").append(...filmRows.map((row) => row.box));
const moving = filmRows.filter((row) => row.last);
$("play-all").hidden = moving.length < 2;
$("play-all").addEventListener("click", () => moving.forEach((row) => row.play()));
