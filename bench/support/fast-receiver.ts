import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Reads a message, says 200, and keeps the connection. */
const server = createServer((asked, answer) => {
  asked.resume()
  asked.on('end', () => answer.end())
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit(0))
