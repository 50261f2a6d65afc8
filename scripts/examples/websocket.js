// API_KEY=… API_SECRET=… VOICE=alloy node scripts/examples/websocket.js > speech.mp3
const { API_KEY, API_SECRET, BASE = "http://127.0.0.1:8080" } = process.env;
const { VOICE = "alloy" } = process.env;

const headers = { "X-API-Key": API_KEY, "X-API-Secret": API_SECRET };
const { auth } = await (await fetch(`${BASE}/v2/config`, { headers })).json();

const address = `${BASE.replace("http", "ws")}/v2/text/stream?token=${auth.token}`;
const socket = new WebSocket(address);
socket.binaryType = "arraybuffer";

socket.onopen = () => {
  const request = {
    voice: VOICE,
    text: "This sentence is played while it is still being synthesized.",
  };
  socket.send(JSON.stringify({ type: "synthesize", id: crypto.randomUUID(), request }));
};

socket.onmessage = ({ data }) => {
  // A frame of audio: 0x01, the id (36 bytes), the index (4 bytes), the audio.
  if (data instanceof ArrayBuffer) return play(new Uint8Array(data, 41));
  const { type, message } = JSON.parse(data);
  if (type === "error") console.error(message);
  if (type === "error" || type === "stream_end") socket.close();
};

const play = (audio) => process.stdout.write(audio);
