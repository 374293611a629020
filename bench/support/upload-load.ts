import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'

/** A load of multipart uploads, in a process of its own: files of one size, each of another content. */

const { URL, KEY, SECONDS, CONNECTIONS, BYTES } = process.env as Record<string, string>
const agent = new Agent({ keepAlive: true, maxSockets: Number(CONNECTIONS) })
const size = Number(BYTES)
const content = randomBytes(size)

const part = (disposition: string) => `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`
const head = Buffer.from(`${part('name="project_id"')}bench/files\r\n${part('name="file"; filename="blob"')}`)
const tail = Buffer.from('\r\n--b--\r\n')

let sent = 0
const upload = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=b',
      authorization: `Bearer ${KEY}`,
      'content-length': head.length + size + tail.length,
    }
    const sending = request(URL!, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`answered ${response.statusCode}`)),
      )
    })
    sending.on('error', reject)
    sending.write(head)
    const own = Buffer.alloc(8)
    own.writeUInt32LE((sent += 1))
    own.writeUInt32LE(process.pid, 4)
    sending.write(own)
    sending.write(content.subarray(8))
    sending.end(tail)
  })

const begin = performance.now()
const until = begin + Number(SECONDS) * 1000
let files = 0
await Promise.all(
  Array.from({ length: Number(CONNECTIONS) }, async () => {
    while (performance.now() < until) {
      await upload()
      files += 1
    }
  }),
)
const seconds = (performance.now() - begin) / 1000
console.log(JSON.stringify({ megabytesPerSecond: (files * size) / 1e6 / seconds, files }))
process.exit(0)
