import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'

/** Addresses of both kinds; or what a server says that has none. */
export type NameAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

/** Is given how often this name and type were asked before. */
export type Answering = (before: number, type: 'A' | 'AAAA') => NameAnswer

export interface NameServer {
  /** `127.0.0.1:1234` */
  readonly address: string
  /** Every question, as `A receiver.test`. */
  readonly asked: readonly string[]
  /** From the next question on. */
  readonly answer: (name: string, answer: NameAnswer | Answering) => void
  readonly stop: () => Promise<void>
}

const TYPES: Readonly<Record<number, 'A' | 'AAAA'>> = { 1: 'A', 28: 'AAAA' }

/** A DNS server on the loopback address that knows the names it is told, and no others. */
export const startNameServer = async (): Promise<NameServer> => {
  const answers = new Map<string, Answering>()
  const counts = new Map<string, number>()
  const asked: string[] = []
  const server = createSocket('udp4')
  server.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = question(query)
    const kind = TYPES[type]
    if (kind === undefined) return
    const key = `${kind} ${name}`
    const before = counts.get(key) ?? 0
    counts.set(key, before + 1)
    asked.push(key)
    const answer = answers.get(name)?.(before, kind) ?? 'NXDOMAIN'
    if (answer !== 'silence') server.send(reply(query, end, type, answer), from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${server.address().port}`,
    asked,
    answer: (name, answer) => void answers.set(name, typeof answer === 'function' ? answer : () => answer),
    stop: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}

/** The one question of a query, and where it ends. */
const question = (query: Buffer): { readonly name: string; readonly type: number; readonly end: number } => {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

const reply = (query: Buffer, questionEnds: number, type: number, answer: NameAnswer): Buffer => {
  const addresses = typeof answer === 'string' ? [] : answer
  const records = addresses
    .filter((address) => TYPES[type] === (isIP(address) === 4 ? 'A' : 'AAAA'))
    .map(record)
  const code = answer === 'NXDOMAIN' ? 3 : answer === 'SERVFAIL' ? 2 : 0
  const head = Buffer.alloc(12)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, query.subarray(12, questionEnds), ...records])
}

/** An address for the name of the question, good for no second. */
const record = (address: string): Buffer => {
  const bytes = isIP(address) === 4 ? Buffer.from(address.split('.').map(Number)) : ipv6(address)
  const head = Buffer.from([0xc0, 12, 0, bytes.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length])
  return Buffer.concat([head, bytes])
}

const ipv6 = (address: string): Buffer => {
  const [left = '', right] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const [before, behind] = [groups(left), groups(right ?? '')]
  const zeros = Array<string>(8 - before.length - behind.length).fill('0')
  return Buffer.from([...before, ...zeros, ...behind].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
