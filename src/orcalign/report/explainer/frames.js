// Frames of one clip: pictures are decoded when they are wanted, and a few of them are kept.

const KEPT_PICTURES = 90;

class Clip {
  constructor(data) {
    Object.assign(this, data);
    this.decoded = new Map();
  }

  last() {
    return this.count - 1;
  }

  picture(frame) {
    const k = this.order[frame];
    let picture = this.decoded.get(k);
    if (picture) {
      this.decoded.delete(k); // put again at the end: the first in the map is the one unused for longest
    } else {
      const image = new Image();
      image.src = `data:${this.type};base64,${this.pictures[k]}`;
      picture = image.decode().then(() => image);
    }
    this.decoded.set(k, picture);
    if (this.decoded.size > KEPT_PICTURES) {
      this.decoded.delete(this.decoded.keys().next().value);
    }
    return picture;
  }

  // Pictures arrive in any order: only the one that was asked for last is drawn.
  show(canvas, frame) {
    const wanted = { clip: this, frame };
    canvas.wanted = wanted;
    return this.picture(frame).then((image) => {
      if (canvas.wanted !== wanted) {
        return;
      }
      if (canvas.width !== this.width || canvas.height !== this.height) {
        canvas.width = this.width;
        canvas.height = this.height;
      }
      canvas.getContext("2d").drawImage(image, 0, 0);
      canvas.dataset.frame = frame;
      canvas.dispatchEvent(new CustomEvent("drawn", { detail: frame })); // others may draw over it
    });
  }

  // While playing, the next pictures are decoded before their turn.
  prepare(frame, ahead) {
    for (let k = frame + 1; k <= Math.min(frame + ahead, this.last()); k++) {
      this.picture(k);
    }
  }

  // What a frame is called: its number, or, of goals in words, the words.
  called(frame) {
    return this.sentences ? `goal ${frame}: ${this.sentences[frame]}` : `frame ${frame}`;
  }

  seconds(frame) {
    return `${(frame / this.fps).toFixed(2)} s`;
  }
}
