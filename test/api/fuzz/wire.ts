import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Memory } from './memory.js'
import { bytesOf, type Planned } from './requests.js'

export interface Sent {
  readonly planned: Planned
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Buffer | undefined
}

export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Puts what is remembered into a request, and writes it out. */
export const written = (planned: Planned, memory: Memory, keys: Readonly<Record<string, string>>): Sent => {
  const { operation, prefix, body, key } = planned
  const parameters = memory.recalled(planned.path) as Readonly<Record<string, unknown>>
  const query = Object.entries(memory.recalled(planned.query) as object).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encoded(name)}=${encoded(one)}`),
  )
  const path = operation.template.replace(
    /\{(\w+)\}/g,
    (_, name: string) => encoded(parameters[name]) || EMPTY,
  )
  const authorization = keys[key] === undefined ? {} : { authorization: `Bearer ${keys[key]}` }
  const common = { ...authorization, ...planned.headers }
  const whole = `${prefix}${path}${query.length === 0 ? '' : `?${query.join('&')}`}`
  if (body === undefined) return { planned, path: whole, headers: common, bytes: undefined }
  if ('json' in body) {
    const bytes = bytesOf(memory.recalled(body.json), body.spoiltBy)
    return { planned, path: whole, headers: { 'content-type': 'application/json', ...common }, bytes }
  }
  const headers = { 'content-type': `multipart/form-data; boundary=${body.boundary}`, ...common }
  return { planned, path: whole, headers, bytes: formOf(memory.recalled(body.form)) }
}

const encoded = (value: unknown): string =>
  value instanceof Uint8Array
    ? Buffer.from(value).toString()
    : encodeURIComponent((typeof value === 'string' ? value : JSON.stringify(value ?? null)).toWellFormed())

const formOf = (form: unknown): Buffer => {
  const parts = Object.entries(form ?? {}).map(([name, value]) => {
    const file = name === 'file' ? '; filename="f"' : ''
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return `--x\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${text}\r\n`
  })
  return Buffer.from(`${parts.join('')}--x--\r\n`)
}

const LONGEST_MS = 120_000

/** Without its last parameter a path may be another operation's. */
const EMPTY = '%20'

/** Sends over connections that stay open. */
export const senderTo = (address: string, sockets: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  const send = ({ planned: { method }, path, headers, bytes }: Sent): Promise<Received> =>
    new Promise((resolve, reject) => {
      const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) }
      const { hostname, port } = new URL(address)
      const sent = request(
        { hostname, port, path, method, agent, headers: { ...headers, ...length }, timeout: LONGEST_MS },
        (response) => {
          const { statusCode: status = 0, headers: received } = response
          resolve(buffer(response).then((all) => ({ status, headers: received, bytes: all })))
        },
      )
      sent.on('timeout', () => sent.destroy(new Error('no answer within two minutes')))
      sent.on('error', reject)
      sent.end(bytes)
    })
  return { send, close: () => agent.destroy() }
}
