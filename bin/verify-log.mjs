#!/usr/bin/env node
// Checks a sealed event log without the service and without its code. One file, no packages, in Node and in browsers.
// docs/auditing.md has its use; the formats are those of C2SP: signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof.

const utf8 = new TextEncoder()
/** Bytes as a string, one character each: they hash and join faster than arrays. */
const binaryOf = (bytes) => String.fromCharCode(...bytes)
const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

// SHA-256. What browsers have is asynchronous, and would make every step of the tree so.

const bitsOf = (root) => {
  const primes = []
  for (let one = 2; primes.length < 64; one += 1)
    if (primes.every((prime) => one % prime !== 0)) primes.push(one)
  return Uint32Array.from(primes, (prime) => (prime ** (1 / root) % 1) * 2 ** 32)
}
const [FIRST, ROUNDS] = [bitsOf(2).slice(0, 8), bitsOf(3)]
const rotated = (word, by) => (word >>> by) | (word << (32 - by))

const sha256InScript = (content) => {
  const bytes = typeof content === 'string' ? utf8.encode(content) : content
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64))
  new Uint8Array(padded.buffer).set(bytes)
  padded.setUint8(bytes.length, 0x80)
  padded.setBigUint64(padded.byteLength - 8, BigInt(bytes.length) * 8n)
  const [state, words] = [FIRST.slice(), new Int32Array(64)]
  for (let block = 0; block < padded.byteLength; block += 64) {
    let [a, b, c, d, e, f, g, h] = state
    for (let at = 0; at < 64; at += 1) {
      const early = words[at - 15]
      const late = words[at - 2]
      words[at] =
        at < 16
          ? padded.getInt32(block + at * 4)
          : words[at - 16] +
            (rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)) +
            words[at - 7] +
            (rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10))
      const high = (h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g))) | 0
      const one = (high + ROUNDS[at] + words[at]) | 0
      const other = ((rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g
      g = f
      f = e
      e = (d + one) | 0
      d = c
      c = b
      b = a
      a = (one + other) | 0
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) state[at] += word
  }
  const hashed = new DataView(new ArrayBuffer(32))
  for (const [at, word] of state.entries()) hashed.setUint32(at * 4, word)
  return binaryOf(new Uint8Array(hashed.buffer))
}

const nodeCrypto = await import(/* webpackIgnore: true */ 'node:crypto').catch(() => undefined)
/** Of bytes, or of a text in UTF-8; as a binary string. */
export const sha256 =
  nodeCrypto?.hash === undefined ? sha256InScript : (content) => nodeCrypto.hash('sha256', content, 'binary')

class Invalid extends Error {}
const require = (holds, reason) => {
  if (!holds) throw new Invalid(reason)
}

// Signed notes and checkpoints

const SIGNATURE = 1
const COSIGNATURE = 4

/** A verifier key: NAME+ID+BASE64, where the bytes are the type and the key. */
export const parseKey = async (text) => {
  const [, name, id, base64] = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text.trim()) ?? []
  require(name !== undefined, 'the verifier key must be NAME+ID+BASE64')
  const typed = bytesOf(base64)
  const hashed = sha256(Uint8Array.of(...utf8.encode(`${name}\n`), ...typed)).slice(0, 4)
  const named = binaryOf(id.match(/../g).map((digits) => parseInt(digits, 16)))
  require(typed.length === 33 && hashed === named, 'the verifier key has another length or id')
  const key = await crypto.subtle.importKey('raw', typed.slice(1), 'Ed25519', true, ['verify'])
  return { name, id: hashed, type: typed[0], key }
}

/** The text of a note, and the times of its cosignatures. Refuses a wrong signature of a known key, and a note without any. */
const openNote = async (note, keys) => {
  const end = note.lastIndexOf('\n\n')
  require(end > 0 && note.endsWith('\n'), 'the note has no signatures')
  const text = note.slice(0, end + 1)
  const times = []
  let known = 0
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [, name, base64] = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? []
    require(name !== undefined, 'a signature line is malformed')
    const bytes = bytesOf(base64)
    const key = keys.find((one) => one.name === name && one.id === binaryOf(bytes.slice(0, 4)))
    if (key === undefined || ![SIGNATURE, COSIGNATURE].includes(key.type)) continue
    const timed = key.type === COSIGNATURE ? 8 : 0
    const seconds = bytes.slice(4, 4 + timed).reduce((sum, byte) => sum * 256 + byte, 0)
    const content = timed === 0 ? text : `cosignature/v1\ntime ${seconds}\n${text}`
    const isRight = await crypto.subtle.verify(
      'Ed25519',
      key.key,
      bytes.slice(4 + timed),
      utf8.encode(content),
    )
    require(isRight, `the signature of ${name} is wrong`)
    if (timed > 0) times.push(new Date(seconds * 1000))
    else known += 1
  }
  require(known > 0, 'no known key has signed the note')
  return { text, times }
}

/** Origin, size and root of a signed checkpoint. */
export const openCheckpoint = async (note, keys) => {
  const { text, times } = await openNote(note, keys)
  const [origin, size, root] = text.split('\n')
  require(/^\d{1,15}$/.test(size ?? '') &&
    /^[A-Za-z0-9+/]{43}=$/.test(root ?? ''), 'the note is no checkpoint')
  require(keys.some((key) => key.name === origin), `the checkpoint is of another log, ${origin}`)
  return { origin, size: Number(size), root: atob(root), times }
}

// The Merkle tree of RFC 6962

const leafHash = (entry) => sha256(`\0${entry}`)

const node = new Uint8Array(65).fill(1)
const nodeHash = (left, right) => {
  for (let at = 0; at < 32; at += 1) {
    node[1 + at] = left.charCodeAt(at)
    node[33 + at] = right.charCodeAt(at)
  }
  return sha256(node)
}

/** A tree that grows. Keeps the roots of its complete subtrees, one of each size, the largest first. */
const growingTree = () => {
  const subtrees = []
  let size = 0
  return {
    size: () => size,
    add: (leaf) => {
      let hashed = leaf
      for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) hashed = nodeHash(subtrees.pop(), hashed)
      subtrees.push(hashed)
      size += 1
    },
    root: () => (size === 0 ? sha256('') : subtrees.reduceRight((right, left) => nodeHash(left, right))),
  }
}

/** The root that an audit path leads to. */
const rootOfPath = (leaf, index, size, path) => {
  require(index < size, 'the index is not in the tree')
  let [first, end] = [0, size]
  const sides = []
  while (end - first > 1) {
    let split = 1
    while (split * 2 < end - first) split *= 2
    const isLeft = index < first + split
    sides.unshift(isLeft)
    if (isLeft) end = first + split
    else first += split
  }
  require(sides.length === path.length, 'the path has another length')
  let hashed = leaf
  for (const [at, sibling] of path.entries())
    hashed = sides[at] ? nodeHash(hashed, sibling) : nodeHash(sibling, hashed)
  return hashed
}

// Events

/** The members of a JSON object as they are written, because parsing would lose digits of large numbers. */
export const rawMembers = (line) => {
  const members = {}
  let [depth, name, start] = [0, undefined, undefined]
  for (const { 0: token, index } of line.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g)) {
    if (depth === 1 && token === ':') start = index + 1
    else if (depth === 1 && (token === ',' || token === '}')) {
      members[name] = line.slice(start, index)
      start = undefined
    } else if (depth === 1 && start === undefined) name = JSON.parse(token)
    if (token === '{' || token === '[') depth += 1
    else if (token === '}' || token === ']') depth -= 1
  }
  return members
}

// As the service writes most lines; others take longer. Text cannot pass for a member, because its quotes are escaped.
const HEAD =
  /^\{"id":("[^"\\]*"),"type":("[^"\\]*"),"stream":("[^"\\]*"),"revision":("\d+"),"position":"\d+","recorded_at":"[^"\\]*","data":/
const BEFORE_METADATA = ',"metadata":'
const TAIL = /^(\{[^{}]*\})(?:,"index":\d+)?,"salt":"([A-Za-z0-9+/=]+)"\}$/

const quickly = (line) => {
  const head = HEAD.exec(line)
  const split = line.lastIndexOf(BEFORE_METADATA)
  const tail = head === null || split < 0 ? null : TAIL.exec(line.slice(split + BEFORE_METADATA.length))
  if (tail === null) return undefined
  const [before, id, type, stream, revision] = head
  const [, metadata, salt] = tail
  return { id, type, stream, revision, salt, data: line.slice(before.length, split), metadata }
}

let scratch = new Uint8Array(65_536)

const digestOf = (salt, data, metadata) => {
  const salted = atob(salt)
  const most = salted.length + 3 * (data.length + 1 + metadata.length)
  if (scratch.length < most) scratch = new Uint8Array(2 * most)
  for (let at = 0; at < salted.length; at += 1) scratch[at] = salted.charCodeAt(at)
  const { written } = utf8.encodeInto(`${data}\n${metadata}`, scratch.subarray(salted.length))
  return btoa(sha256(scratch.subarray(0, salted.length + written)))
}

const entryWith = ({ id, stream, revision, type }, content) =>
  `{"id":${id},"stream":${stream},"revision":${revision},"type":${type},"content":"${content}"}`

const readEvent = (line) => {
  const known = quickly(line)
  if (known !== undefined)
    return { entry: entryWith(known, digestOf(known.salt, known.data, known.metadata)), erased: false }
  const { salt, erased, content, unreadable, ...event } = JSON.parse(line)
  const named = `event ${event.id} of ${event.stream}`
  require(unreadable === undefined, `${named} is not as it was written: ${unreadable}`)
  require(erased === true ||
    salt !== undefined, `${named} has no salt: ask with seal=true and the administrator's key`)
  const { data, metadata } = rawMembers(line)
  for (const name of ['id', 'stream', 'revision', 'type']) event[name] = JSON.stringify(event[name])
  const digest = erased === true ? content : digestOf(salt, data, metadata)
  return { entry: entryWith(event, digest), erased: erased === true }
}

/**
 * The entry that the tree has of an event, from its line of `GET /api/events?seal=true`. The line of an erased event has
 * the digest of its former content.
 */
export const entryOf = (line) => readEvent(line).entry

/**
 * Builds the tree of events, given as an async iterable of lists of lines, and compares it with signed checkpoints. Returns the
 * checkpoints, each with how many of its events are erased; throws if one differs.
 */
export const verifyEvents = async (lines, notes, keys, onProgress = () => undefined) => {
  const checkpoints = []
  for (const note of notes) checkpoints.push(await openCheckpoint(note, keys))
  checkpoints.sort((one, other) => one.size - other.size)
  const tree = growingTree()
  let next = 0
  let erased = 0
  const compare = () => {
    for (; checkpoints[next]?.size === tree.size(); next += 1) {
      checkpoints[next].erased = erased
      require(tree.root() ===
        checkpoints[next].root, `the first ${tree.size()} events are not those that were signed` +
        (next === 0 ? '' : `; the first ${checkpoints[next - 1].size} are`))
    }
  }
  compare()
  for await (const some of lines)
    for (const line of some) {
      if (next === checkpoints.length) return checkpoints
      const event = readEvent(line)
      tree.add(leafHash(event.entry))
      if (event.erased) erased += 1
      compare()
      onProgress(tree.size())
    }
  require(next ===
    checkpoints.length, `there are ${tree.size()} events, but a checkpoint of ${checkpoints.at(-1)?.size} was signed`)
  return checkpoints
}

/** Checks a proof, which stands alone. Returns its entry and its checkpoint. */
export const verifyProof = async (text, keys) => {
  const end = text.indexOf('\n\n')
  const [version, extra, index, ...path] = text.slice(0, end).split('\n')
  require(end > 0 && version === 'c2sp.org/tlog-proof@v1', 'this is no proof')
  require(/^extra \S+$/.test(extra ?? '') &&
    /^index \d{1,15}$/.test(index ?? ''), 'the proof names no entry or index')
  const checkpoint = await openCheckpoint(text.slice(end + 2), keys)
  const entry = new TextDecoder().decode(bytesOf(extra.slice('extra '.length)))
  const at = Number(index.slice('index '.length))
  const hashes = path.map((hashed) => atob(hashed))
  const root = rootOfPath(leafHash(entry), at, checkpoint.size, hashes)
  require(root === checkpoint.root, 'the path does not lead to the root of the checkpoint')
  return { entry: JSON.parse(entry), index: at, checkpoint }
}

/** The lines of a text that comes in pieces, some at a time. */
export async function* linesOf(pieces) {
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()
    yield lines.filter((line) => line !== '')
  }
  require(rest === '', 'the last line is incomplete')
}

async function* piecesOf(stream) {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** Checks a running service: its latest checkpoint, and earlier ones that it must continue. */
export const verifyService = async (url, apiKey, keys, earlier = [], onProgress = () => undefined) => {
  const get = async (path) => {
    const answer = await fetch(`${url.replace(/\/$/, '')}${path}`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    require(answer.status === 200, `${path} answered ${answer.status}`)
    return answer
  }
  const latest = await (await get('/api/log/checkpoint')).text()
  const { size } = await openCheckpoint(latest, keys)
  const events = await get(`/api/events?seal=true&limit=${Math.max(size, 1)}`)
  return verifyEvents(
    linesOf(piecesOf(events.body.pipeThrough(new TextDecoderStream()))),
    [...earlier, latest],
    keys,
    onProgress,
  )
}

// The command

const USAGE = `usage: node verify-log.mjs --verifier KEY [--verifier KEY ...] and one of
  --url URL [--checkpoint FILE ...]           checks a running service, with the administrator's key in TALLYTREE_API_KEY
  --events FILE --checkpoint FILE [...]       checks a file of GET /api/events?seal=true
  --proof FILE                                checks a proof of GET /api/log/proof
Exit codes: 0 all is well, 1 something differs, 2 the command is wrong.
`

const main = async () => {
  const { parseArgs } = await import('node:util')
  const { createReadStream } = await import('node:fs')
  const { readFile } = await import('node:fs/promises')
  const option = { type: 'string' }
  const { values } = parseArgs({
    options: {
      url: option,
      events: option,
      proof: option,
      verifier: { ...option, multiple: true },
      checkpoint: { ...option, multiple: true },
    },
  })
  const { url, events, proof, verifier = [], checkpoint = [] } = values
  if (verifier.length === 0 || [url, events, proof].filter((given) => given !== undefined).length !== 1) {
    process.stderr.write(USAGE)
    return 2
  }
  const keys = await Promise.all(verifier.map(parseKey))
  const notes = await Promise.all(checkpoint.map((file) => readFile(file, 'utf8')))
  if (proof !== undefined) {
    const { entry, index, checkpoint: signed } = await verifyProof(await readFile(proof, 'utf8'), keys)
    console.log(`event ${index} of ${signed.size} in ${signed.origin}: ${JSON.stringify(entry)}`)
    for (const time of signed.times) console.log(`recorded before ${time.toISOString()}`)
    return 0
  }
  const large = { encoding: 'utf8', highWaterMark: 262_144 }
  const checked =
    url === undefined
      ? await verifyEvents(linesOf(createReadStream(events, large)), notes, keys)
      : await verifyService(url, process.env['TALLYTREE_API_KEY'] ?? '', keys, notes)
  require(checked.length > 0, 'there is no checkpoint to compare with')
  for (const { origin, size, times, erased } of checked)
    console.log(
      `${origin}: ${size} events are those that were signed ${times.map((time) => time.toISOString()).join()}` +
        (erased === 0 ? '' : `, but the data of ${erased} was erased`),
    )
  return 0
}

if (nodeCrypto !== undefined && process.argv[1] !== undefined) {
  const { realpathSync } = await import('node:fs')
  const { pathToFileURL } = await import('node:url')
  if (pathToFileURL(realpathSync(process.argv[1])).href === import.meta.url)
    process.exitCode = await main().catch((error) => {
      console.error(error instanceof Invalid ? `verification failed: ${error.message}` : String(error))
      return error instanceof Invalid ? 1 : 2
    })
}
