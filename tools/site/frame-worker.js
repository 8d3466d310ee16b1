// A worker for pages that are opened from a disk, where browsers start none: the search runs in a
// hidden frame instead. It has what the search needs of a worker and no more.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // What the worker says is an event of this object.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = async (...addresses) => {
        for (const each of addresses) await load(inside, each);
      };
      this.frame = frame;
      this.inside = inside;
      this.ready = load(inside, address);
    }

    postMessage(data) {
      void this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

/** Runs a script in a frame. */
function load(inside, address) {
  return new Promise((done, failed) => {
    const script = inside.document.createElement("script");
    script.src = String(address);
    script.onload = () => done();
    script.onerror = () => failed(new Error(`cannot load ${address}`));
    inside.document.body.append(script);
  });
}
