import {
  createPrivateKey,
  createPublicKey,
  hash,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { HASH_BYTES } from './merkle.js'

/** Signed notes, checkpoints and cosignatures: https://c2sp.org/signed-note, /tlog-checkpoint and /tlog-cosignature. */
export type KeyType = 'signature' | 'cosignature'

const BYTE_OF_TYPE = { signature: 1, cosignature: 4 } as const
const ID_BYTES = 4
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const TIME_BYTES = 8

export interface VerifierKey {
  readonly name: string
  readonly type: KeyType
  readonly id: Buffer
  readonly key: KeyObject
  /** As it is published: name, id and key. */
  readonly text: string
}

export interface SignerKey extends VerifierKey {
  /** Secret. As it is kept in a file. */
  readonly secret: string
  readonly privateKey: KeyObject
}

/** What a checkpoint says: the root of the tree of the first `size` entries of a log. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Buffer
}

/** A witness cosigns a checkpoint only if it continues those before: https://c2sp.org/tlog-witness. */
export interface Witness {
  readonly key: VerifierKey
  /** Without a slash at the end. */
  readonly address: string
}

interface KnownSignature {
  readonly key: VerifierKey
  /** Of a cosignature, in seconds since 1970. */
  readonly time: number | undefined
  readonly line: string
}

export interface OpenedNote {
  readonly text: string
  /** Those of known keys. */
  readonly signatures: readonly KnownSignature[]
}

/** A note that is not well-formed, or that no known key has signed. */
export class InvalidNote extends Error {
  override readonly name = 'InvalidNote'
}

const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

const typedKey = (type: KeyType, key: Uint8Array): Buffer =>
  Buffer.concat([Uint8Array.of(BYTE_OF_TYPE[type]), key])

const verifierKey = (name: string, type: KeyType, raw: Uint8Array): VerifierKey => {
  const typed = typedKey(type, raw)
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'buffer').subarray(0, ID_BYTES)
  const key = createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' })
  return { name, type, id, key, text: `${name}+${id.toString('hex')}+${typed.toString('base64')}` }
}

const signerKey = (name: string, type: KeyType, seed: Uint8Array): SignerKey => {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI.length)
  const known = verifierKey(name, type, raw)
  const secret = `PRIVATE+KEY+${name}+${known.id.toString('hex')}+${typedKey(type, seed).toString('base64')}`
  return { ...known, privateKey, secret }
}

export const newSignerKey = (name: string, type: KeyType): SignerKey =>
  signerKey(name, type, randomBytes(KEY_BYTES))

const KEY = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/

const keyIn = <Key extends VerifierKey>(
  text: string,
  keyOf: (name: string, type: KeyType, bytes: Uint8Array) => Key,
): Key => {
  const [, name = '', id, base64 = ''] = KEY.exec(text) ?? []
  const [byte, ...bytes] = Buffer.from(base64, 'base64')
  const type = (['signature', 'cosignature'] as const).find((known) => BYTE_OF_TYPE[known] === byte)
  if (type !== undefined && bytes.length === KEY_BYTES) {
    const key = keyOf(name, type, Uint8Array.from(bytes))
    if (key.id.toString('hex') === id) return key
  }
  throw new InvalidNote('a key must be NAME+ID+BASE64 as "tallytree log key" prints it')
}

/** @throws InvalidNote */
export const parseVerifierKey = (text: string): VerifierKey => keyIn(text, verifierKey)

/** @throws InvalidNote */
export const parseSignerKey = (text: string): SignerKey =>
  keyIn(text.replace(/^PRIVATE\+KEY\+/, ''), signerKey)

const cosigned = (text: string, time: number): Buffer => Buffer.from(`cosignature/v1\ntime ${time}\n${text}`)

const signatureLine = (key: SignerKey, text: string, time: number): string => {
  const bytes = [key.id]
  if (key.type === 'cosignature') {
    const seconds = Buffer.alloc(TIME_BYTES)
    seconds.writeBigUInt64BE(BigInt(time))
    bytes.push(seconds, sign(null, cosigned(text, time), key.privateKey))
  } else bytes.push(sign(null, Buffer.from(text), key.privateKey))
  return `— ${key.name} ${Buffer.concat(bytes).toString('base64')}\n`
}

/** The text, which ends with a newline, with a signature of each key. */
export const signNote = (text: string, keys: readonly SignerKey[], time: number): string =>
  `${text}\n${keys.map((key) => signatureLine(key, text, time)).join('')}`

/** Throws if a known key has signed something else, or no known key has signed. */
export const openNote = (note: string, known: readonly VerifierKey[]): OpenedNote => {
  const end = note.lastIndexOf('\n\n')
  const text = note.slice(0, end + 1)
  const lines = note.slice(end + 2).split('\n')
  if (end < 0 || lines.pop() !== '') throw new InvalidNote('the note has no signatures')
  const signatures = lines.flatMap((line) => {
    const [, name, base64 = ''] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
    const bytes = Buffer.from(base64, 'base64')
    if (name === undefined || bytes.length < ID_BYTES || bytes.toString('base64') !== base64)
      throw new InvalidNote('a signature line is malformed')
    const id = bytes.subarray(0, ID_BYTES)
    const key = known.find((one) => one.name === name && one.id.equals(id))
    return key === undefined ? [] : [{ key, time: verifiedTime(key, text, bytes.subarray(ID_BYTES)), line }]
  })
  if (signatures.length === 0) throw new InvalidNote('no known key has signed the note')
  return { text, signatures }
}

const verifiedTime = (key: VerifierKey, text: string, bytes: Buffer): number | undefined => {
  const timed = key.type === 'cosignature' ? TIME_BYTES : 0
  if (bytes.length === timed + SIGNATURE_BYTES) {
    const time = timed === 0 ? undefined : Number(bytes.readBigUInt64BE())
    const content = time === undefined ? Buffer.from(text) : cosigned(text, time)
    if (verify(null, content, key.key, bytes.subarray(timed))) return time
  }
  throw new InvalidNote(`the signature of ${key.name} is wrong`)
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`

/** The checkpoint in a note. @throws InvalidNote */
export const parseCheckpoint = (text: string): Checkpoint => {
  const [, origin, size, base64 = ''] =
    /^([^\s+]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)(?:\n|$)/.exec(text) ?? []
  const root = Buffer.from(base64, 'base64')
  if (origin === undefined || root.length !== HASH_BYTES) throw new InvalidNote('the note is no checkpoint')
  return { origin, size: Number(size), root }
}
