// The floor of a gateway in Node: undici passes requests and answers on, and does nothing else.
import { createServer } from "node:http";
import { Pool } from "undici";

const upstream = new Pool(process.env.UPSTREAM, { connections: 64 });

const server = createServer(({ method, url, headers }, response) => {
  upstream.dispatch(
    { method, path: url, headers },
    {
      onRequestStart: (controller) => response.once("close", () => controller.abort(new Error("the client has left"))),
      onResponseStart: (_, status, received) => response.writeHead(status, received),
      onResponseData(controller, chunk) {
        if (response.write(chunk)) return;
        controller.pause();
        response.once("drain", () => controller.resume());
      },
      onResponseEnd: () => response.end(),
      onResponseError: () => response.destroy(),
    },
  );
}).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
