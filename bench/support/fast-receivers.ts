import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Reads messages on every loopback address, each of which is a host of its own, and says 200. */
const server = createServer((asked, answer) => {
  asked.resume()
  asked.on('end', () => answer.end())
})
server.listen(0, '0.0.0.0', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit(0))
