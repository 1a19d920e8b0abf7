// A client of `orcalign serve` in JavaScript, for browsers and Node, with the little of msgpack that it needs.
//
//     ffmpeg -v error -i attempt.mp4 -f rawvideo -pix_fmt rgb24 - | node examples/live_client.mjs 240 180
//
// (width and height of the video; before Node 22: node --experimental-websocket)

export class LiveReward {
  // Resolves when the server has said what it is: client.about. A browser gives a token as ?token=… in the address.
  static connect(url = "ws://localhost:8000") {
    const client = new LiveReward();
    client.socket = new WebSocket(url);
    client.socket.binaryType = "arraybuffer";
    client.waiting = [];
    client.socket.onmessage = ({ data }) => {
      const { resolve, reject } = client.waiting.shift();
      // A text frame says what was wrong; the server closes the connection then.
      typeof data === "string" ? reject(new Error(data)) : resolve(unpack(new Uint8Array(data)));
    };
    client.socket.onclose = () => client.waiting.forEach(({ reject }) => reject(new Error("the server has gone")));
    return client.answer().then((about) => Object.assign(client, { about }));
  }

  answer() {
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  // pixels: Uint8Array of height x width x 3, red, green and blue; more: { reset: true, session: "left" }
  infer(pixels, height, width, more = {}, key = "observation/image") {
    const bytes = (text) => new TextEncoder().encode(text);
    const image = new Map([
      [bytes("__ndarray__"), true],
      [bytes("data"), pixels],
      [bytes("dtype"), "|u1"],
      [bytes("shape"), [height, width, 3]],
    ]);
    this.socket.send(pack(new Map([[key, image], ...Object.entries(more)])));
    return this.answer();
  }
}

function pack(value) {
  const parts = [];
  const head = (code, count) => parts.push(new Uint8Array([code, count >>> 24, count >>> 16, count >>> 8, count]));
  const put = (one) => {
    if (typeof one === "boolean") {
      parts.push(new Uint8Array([one ? 0xc3 : 0xc2]));
    } else if (typeof one === "number") {
      head(0xce, one); // whole numbers only
    } else if (typeof one === "string") {
      const text = new TextEncoder().encode(one);
      head(0xdb, text.length);
      parts.push(text);
    } else if (one instanceof Uint8Array) {
      head(0xc6, one.length);
      parts.push(one);
    } else if (Array.isArray(one)) {
      head(0xdd, one.length);
      one.forEach(put);
    } else {
      head(0xdf, one.size);
      one.forEach((inner, name) => [name, inner].forEach(put));
    }
  };
  put(value);
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (out.set(part, at), at + part.length), 0);
  return out;
}

function unpack(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  let at = 0;
  const number = (kind, size) => view[`get${kind}`]((at += size) - size);
  const length = (size) => number(`Uint${8 * size}`, size);
  const text = (size) => new TextDecoder().decode(data.subarray(at, (at += size)));
  const list = (size) => Array.from({ length: size }, take);
  const map = (size) => Object.fromEntries(Array.from({ length: size }, () => [take(), take()]));
  function take() {
    const code = number("Uint8", 1);
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 256;
    if (code < 0x90) return map(code & 15);
    if (code < 0xa0) return list(code & 15);
    if (code < 0xc0) return text(code & 31);
    switch (code) {
      case 0xc0: return null;
      case 0xc2: return false;
      case 0xc3: return true;
      case 0xca: return number("Float32", 4);
      case 0xcb: return number("Float64", 8);
      case 0xcc: case 0xcd: case 0xce: return length(1 << (code - 0xcc));
      case 0xcf: return Number(number("BigUint64", 8));
      case 0xd0: case 0xd1: case 0xd2: return number(`Int${8 << (code - 0xd0)}`, 1 << (code - 0xd0));
      case 0xd3: return Number(number("BigInt64", 8));
      case 0xd9: case 0xda: case 0xdb: return text(length(1 << (code - 0xd9)));
      case 0xdc: case 0xdd: return list(length(2 << (code - 0xdc)));
      case 0xde: case 0xdf: return map(length(2 << (code - 0xde)));
    }
    throw new Error(`msgpack code ${code}`);
  }
  return take();
}

async function main([width, height, url]) {
  const client = await LiveReward.connect(url);
  const size = width * height * 3;
  let rest = new Uint8Array(0);
  let t = 0;
  for await (const chunk of process.stdin) {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    for (rest = bytes; rest.length >= size; rest = rest.subarray(size)) {
      const told = await client.infer(rest.slice(0, size), +height, +width, { reset: t === 0 });
      console.log(`${t++} reward ${told.reward} progress ${told.progress} demo frame ${told.demo_frame}`);
    }
  }
  client.socket.close();
}

if (typeof process !== "undefined" && process.argv[1]?.endsWith("live_client.mjs")) {
  main(process.argv.slice(2)).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
}
