import { createServer, type AddressInfo } from 'node:net'

/** Takes connections on every loopback address, and never says a word. */
const server = createServer((socket) => socket.on('error', () => socket.destroy()).resume())
server.listen(0, '0.0.0.0', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit(0))
