import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { HASH_BYTES } from '../../src/kernel/tlog/merkle.js'
import {
  newSignerKey,
  openNote,
  parseCheckpoint,
  signNote,
  type VerifierKey,
} from '../../src/kernel/tlog/note.js'
import { startAnsweringServer } from './answering-server.js'

const nodeHash = (left: Buffer, right: Buffer): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from([1]), left, right]), 'buffer')

interface TreeHead {
  readonly size: number
  readonly root: Buffer
}

/** As RFC 9162, 2.1.4.2 describes it. */
export const isConsistent = (first: TreeHead, second: TreeHead, proof: readonly Buffer[]): boolean => {
  if (first.size === 0) return proof.length === 0
  if (first.size === second.size) return proof.length === 0 && first.root.equals(second.root)
  if (proof.length === 0) return false
  const isComplete = Number.isInteger(Math.log2(first.size))
  const [start, ...rest] = isComplete ? [first.root, ...proof] : proof
  let [fn, sn] = [first.size - 1, second.size - 1]
  const up = () => {
    fn = Math.floor(fn / 2)
    sn = Math.floor(sn / 2)
  }
  while (fn % 2 === 1) up()
  let [fr, sr] = [start!, start!]
  for (const hashed of rest) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeHash(hashed, fr)
      sr = nodeHash(hashed, sr)
      while (fn % 2 === 0 && fn !== 0) up()
    } else sr = nodeHash(sr, hashed)
    up()
  }
  return fr.equals(first.root) && sr.equals(second.root) && sn === 0
}

type Behaviour = 'cosign' | 'fail' | 'sign wrongly' | 'stay silent'

/** A witness of checkpoints: https://c2sp.org/tlog-witness. Checks each consistency proof. */
export interface TestWitness {
  readonly key: VerifierKey
  /** As `TALLYTREE_WITNESSES` names it. */
  readonly setting: string
  readonly address: string
  /** Of the last checkpoint that it cosigned. */
  readonly size: () => number
  /** The statuses of its answers. */
  readonly answers: number[]
  readonly trust: (logKeys: readonly VerifierKey[]) => void
  readonly behave: (how: Behaviour) => void
  /** Takes another size for the last one. */
  readonly pretend: (size: number) => void
  readonly stop: () => Promise<void>
}

const NONE: TreeHead = { size: 0, root: Buffer.alloc(HASH_BYTES) }

export const startWitness = async (name = 'witness.example/w1'): Promise<TestWitness> => {
  const key = newSignerKey(name, 'cosignature')
  const answers: number[] = []
  let logKeys: readonly VerifierKey[] = []
  let behaviour: Behaviour = 'cosign'
  let last = NONE
  let body = ''

  const answerTo = (request: string): readonly [number, string] => {
    const [head = '', ...lines] = request.slice(0, request.indexOf('\n\n')).split('\n')
    const note = request.slice(request.indexOf('\n\n') + 2)
    const old = Number(/^old (\d+)$/.exec(head)?.[1] ?? NaN)
    const { origin, ...checkpoint } = parseCheckpoint(note)
    const known = logKeys.filter((one) => one.name === origin)
    if (known.length === 0) return [404, '']
    const { text, signatures } = openNote(note, known)
    if (signatures.length === 0) return [403, '']
    if (old !== last.size) return [409, `${last.size}\n`]
    const proof = lines.map((line) => Buffer.from(line, 'base64'))
    if (!isConsistent(last, checkpoint, proof)) return [422, '']
    if (behaviour === 'cosign') last = checkpoint
    const signed = behaviour === 'cosign' ? text : text.replace(`\n${checkpoint.size}\n`, '\n1000000\n')
    const others = [newSignerKey('unknown.example', 'cosignature'), key]
    return [200, signNote(signed, others, Math.floor(Date.now() / 1000)).slice(signed.length + 1)]
  }

  const { url, onBody, stop } = await startAnsweringServer((asked, answering: ServerResponse) => {
    if (behaviour === 'stay silent') return
    const [status, text] =
      behaviour === 'fail' || asked.url !== '/log/add-checkpoint' ? [500, ''] : answerTo(body)
    answers.push(status)
    answering.writeHead(status, { 'content-type': status === 409 ? 'text/x.tlog.size' : 'text/plain' })
    answering.end(text)
  })
  onBody((received) => (body = Buffer.from(received, 'latin1').toString()))
  const address = `${url}/log`

  return {
    key,
    address,
    setting: `${key.text}@${address}/`,
    size: () => last.size,
    answers,
    trust: (keys) => (logKeys = keys),
    behave: (how) => (behaviour = how),
    pretend: (size) => (last = { ...last, size }),
    stop,
  }
}
