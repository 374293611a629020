import { Agent, request as ask, type RequestListener } from 'node:http'
import { listen } from '../../src/api/server/http-server.js'

/** The baseline: node:http passes requests on to `TARGET` and answers back. Nothing is read, nothing is kept. */
const target = new URL(process.env['TARGET']!)
const agent = new Agent({ keepAlive: true })

const handle: RequestListener = (request, response) => {
  const { method, url, headers } = request
  const passed = ask(
    { agent, host: target.hostname, port: target.port, path: url, method, headers },
    (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    },
  )
  passed.on('error', () => response.destroy())
  request.pipe(passed)
}

const { address } = await listen(handle, { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
