#!/usr/bin/env node
// Checks a sealed event log without the service and without its code. One file, no packages, in Node and in browsers.
// docs/auditing.md has its use; the formats are those of C2SP: signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof.

const utf8 = new TextEncoder()
const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
const base64Of = (bytes) => btoa(String.fromCharCode(...bytes))
const isEqual = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at])

const joined = (...parts) => {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let end = 0
  for (const part of parts) {
    all.set(part, end)
    end += part.length
  }
  return all
}

/** Node's own digest takes a tenth of the time of WebCrypto, which browsers have. */
const nodeCrypto = await import(/* webpackIgnore: true */ 'node:crypto').catch(() => undefined)
const sha256 = nodeCrypto
  ? async (bytes) => new Uint8Array(nodeCrypto.createHash('sha256').update(bytes).digest())
  : async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))

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
  const hashed = (await sha256(joined(utf8.encode(`${name}\n`), typed))).slice(0, 4)
  require(typed.length === 33, 'the verifier key has another length')
  require([...hashed].map((byte) => byte.toString(16).padStart(2, '0')).join('') ===
    id, 'the verifier key has another id')
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
    const key = keys.find((one) => one.name === name && isEqual(one.id, bytes.slice(0, 4)))
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
  return { origin, size: Number(size), root: bytesOf(root), times }
}

// The Merkle tree of RFC 6962

const LEAF = Uint8Array.of(0)
const NODE = Uint8Array.of(1)

const leafHash = (entry) => sha256(joined(LEAF, entry))
const nodeHash = (left, right) => sha256(joined(NODE, left, right))

/** A tree that grows. Keeps the roots of its complete subtrees, one of each size, the largest first. */
const growingTree = () => {
  const subtrees = []
  let size = 0
  return {
    size: () => size,
    add: async (leaf) => {
      let hashed = leaf
      for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2)
        hashed = await nodeHash(subtrees.pop(), hashed)
      subtrees.push(hashed)
      size += 1
    },
    root: async () => {
      if (size === 0) return sha256(new Uint8Array())
      let hashed = subtrees.at(-1)
      for (let at = subtrees.length - 2; at >= 0; at -= 1) hashed = await nodeHash(subtrees[at], hashed)
      return hashed
    },
  }
}

/** The root that an audit path leads to. */
const rootOfPath = async (leaf, index, size, path) => {
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
    hashed = sides[at] ? await nodeHash(hashed, sibling) : await nodeHash(sibling, hashed)
  return hashed
}

// Events

/** The members of a JSON object as they are written, because parsing would lose digits of large numbers. */
export const rawMembers = (line) => {
  const members = {}
  let [depth, start, name, inText] = [0, -1, undefined, false]
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at]
    if (inText) {
      if (character === '\\') at += 1
      else if (character === '"') inText = false
      continue
    }
    if (character === '"') {
      inText = true
      if (depth === 1 && start < 0) start = at
    } else if (character === ':' && depth === 1 && name === undefined) {
      name = JSON.parse(line.slice(start, at))
      start = at + 1
    } else if (depth === 1 && (character === ',' || character === '}')) {
      if (name !== undefined) members[name] = line.slice(start, at).trim()
      ;[start, name] = [-1, undefined]
    }
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
  }
  return members
}

/**
 * The entry that the tree has of an event, from its line of `GET /api/events?seal=true`. The line of an erased event has
 * the digest of its former content.
 */
export const entryOf = async (line) => (await readEvent(line)).entry

const readEvent = async (line) => {
  const { id, stream, revision, type, salt, erased, content, unreadable } = JSON.parse(line)
  require(unreadable === undefined, `event ${id} of ${stream} is not as it was written: ${unreadable}`)
  const entryWith = (digest) => ({
    entry: utf8.encode(JSON.stringify({ id, stream, revision, type, content: digest })),
    erased: erased === true,
  })
  if (erased === true) return entryWith(content)
  require(salt !==
    undefined, `event ${id} of ${stream} has no salt: ask with seal=true and the administrator's key`)
  const { data, metadata } = rawMembers(line)
  const digest = await sha256(joined(bytesOf(salt), utf8.encode(`${data}\n${metadata}`)))
  return entryWith(base64Of(digest))
}

/**
 * Builds the tree of events, given as an async iterable of lines, and compares it with signed checkpoints. Returns the
 * checkpoints, each with how many of its events are erased; throws if one differs.
 */
export const verifyEvents = async (lines, notes, keys, onProgress = () => undefined) => {
  const checkpoints = []
  for (const note of notes) checkpoints.push(await openCheckpoint(note, keys))
  checkpoints.sort((one, other) => one.size - other.size)
  const tree = growingTree()
  let next = 0
  let erased = 0
  const compare = async () => {
    for (; checkpoints[next]?.size === tree.size(); next += 1) {
      checkpoints[next].erased = erased
      require(isEqual(
        await tree.root(),
        checkpoints[next].root,
      ), `the first ${tree.size()} events are not those that were signed` +
        (next === 0 ? '' : `; the first ${checkpoints[next - 1].size} are`))
    }
  }
  await compare()
  for await (const line of lines) {
    if (next === checkpoints.length) break
    const event = await readEvent(line)
    await tree.add(await leafHash(event.entry))
    if (event.erased) erased += 1
    await compare()
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
  const entry = bytesOf(extra.slice('extra '.length))
  const at = Number(index.slice('index '.length))
  const root = await rootOfPath(await leafHash(entry), at, checkpoint.size, path.map(bytesOf))
  require(isEqual(root, checkpoint.root), 'the path does not lead to the root of the checkpoint')
  return { entry: JSON.parse(new TextDecoder().decode(entry)), index: at, checkpoint }
}

/** The lines of a stream of bytes. */
export async function* linesOf(chunks) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()
    yield* lines.filter((line) => line !== '')
  }
  require(rest === '', 'the last line is incomplete')
}

async function* chunksOf(body) {
  const reader = body.getReader()
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
  return verifyEvents(linesOf(chunksOf(events.body)), [...earlier, latest], keys, onProgress)
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
  const checked =
    url === undefined
      ? await verifyEvents(linesOf(createReadStream(events)), notes, keys)
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
