import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { makeLogTree, openSqliteLogTree } from '../adapters/log-tree/sqlite-log-tree.js'
import { askPatiently, asking, requireApiKey, textOf } from '../adapters/remote-service/request.js'
import { readLogKeys, rotateLogKeys } from '../adapters/secrets/log-keys.js'
import {
  beginBucketLog,
  currentLogKeys,
  rotateBucketLogKeys,
  type BucketLogConfig,
} from '../composition/bucket-log.js'
import { logKeysFile, logTreeFile } from '../composition/sealing.js'
import type { Config } from '../config.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { parseProof } from '../kernel/tlog/entries.js'
import { leafHash, rootOfPath } from '../kernel/tlog/merkle.js'
import { InvalidNote, openNote, parseCheckpoint, parseVerifierKey } from '../kernel/tlog/note.js'

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** `tallytree log key`: prints the verifier keys of the log. Returns the exit code. */
export const printLogKeys = async (config: BucketLogConfig): Promise<number> => {
  const keys = await currentLogKeys(config)
  if (keys === undefined) throw noKeys(config)
  for (const { text } of keys.all) print(text)
  return 0
}

const noKeys = ({ dataDirectory, objects }: BucketLogConfig): OperatorError =>
  new OperatorError(
    `${objects === null ? logKeysFile(dataDirectory) : 'the tree in the bucket'} does not exist: the first start of the service makes it`,
  )

/** `tallytree log rotate-key`: makes a new key. Returns the exit code. */
export const rotateLogKey = async (config: BucketLogConfig): Promise<number> => {
  const { dataDirectory, objects } = config
  if (objects === null) {
    const end = await rotateLogKeys(logKeysFile(dataDirectory), new Date())
    print(
      `the next start of the service signs with a new key, and until ${end.toISOString()} with the former one too`,
    )
    return printLogKeys(config)
  }
  const rotated = await rotateBucketLogKeys(config, objects, new Date())
  if (rotated === undefined) throw noKeys(config)
  const { end, keys } = rotated
  print(
    `the service signs with a new key from now on, and until ${end.toISOString()} with the former one too`,
  )
  for (const { text } of keys.all) print(text)
  return 0
}

/**
 * `tallytree log new-origin`: puts the tree and the keys away, so that the next start begins a log with a new origin, which
 * names the last checkpoint. Returns the exit code.
 */
export const newOrigin = async (config: BucketLogConfig & Pick<Config, 'publicUrl'>): Promise<number> => {
  const { kept, last } =
    config.objects === null
      ? await beginLogInDirectory(config)
      : await beginBucketLog(config, config.objects).then((begun) => ({
          ...begun,
          kept: begun.kept === undefined ? '' : `the former tree and its keys are kept at ${begun.kept}. `,
        }))
  print(
    `${kept}The next start of the service begins a new log${last === undefined ? '' : ' that names this checkpoint:'}`,
  )
  if (last !== undefined) print(last)
  return 0
}

const beginLogInDirectory = async ({ dataDirectory }: BucketLogConfig) => {
  const [treeFile, keysFile] = [logTreeFile(dataDirectory), logKeysFile(dataDirectory)]
  const keys = readLogKeys(keysFile)
  const away = `.before-${Date.now()}`
  const last = lastCheckpoint(treeFile)
  if (last !== undefined) await makeLogTree(`${treeFile}.new`, last)
  // At each point in between, the service does not start, or begins a new log.
  if (keys !== undefined) await rename(keysFile, keysFile + away)
  if (existsSync(treeFile)) await rename(treeFile, treeFile + away)
  if (last !== undefined) await rename(`${treeFile}.new`, treeFile)
  return { kept: `the former tree and its keys are kept with the ending ${away}. `, last }
}

/** Locks the tree, so it fails while a service runs. */
const lastCheckpoint = (path: string): string | undefined => {
  if (!existsSync(path)) return undefined
  const tree = openSqliteLogTree(path)
  const last = tree.latest()?.note ?? tree.previous()
  tree.close()
  return last
}

interface Prove {
  readonly event: string
  readonly stream: string | undefined
  readonly url: string | undefined
}

/** `tallytree log prove`: prints the proof of an event. Returns the exit code. */
export const proveEvent = async (
  { event, stream, url }: Prove,
  { apiKey, host, port }: Pick<Config, 'apiKey' | 'host' | 'port'>,
): Promise<number> => {
  const ask = asking(url ?? `http://${host}:${port}`, requireApiKey(apiKey, 'a key'))
  const query = new URLSearchParams({ event, ...(stream === undefined ? {} : { stream }) })
  const answer = await askPatiently(ask, `/api/log/proof?${query.toString()}`)
  const text = await textOf(answer)
  if (answer.statusCode !== 200)
    throw new OperatorError(`the service does not know the event ${event}: ${text}`)
  process.stdout.write(text)
  return 0
}

/** `tallytree log check`: checks a proof without the service. Returns the exit code. */
export const checkProof = async (file: string, keys: readonly string[]): Promise<number> => {
  const proof = parseProof(await readFile(file, 'utf8'))
  if (proof === undefined) throw new OperatorError(`${file} is not a proof of "tallytree log prove"`)
  try {
    const { text, signatures } = openNote(proof.checkpoint, keys.map(parseVerifierKey))
    const { origin, size, root } = parseCheckpoint(text)
    if (rootOfPath(leafHash(proof.entry), proof.index, size, proof.path)?.equals(root) !== true)
      throw new InvalidNote('the path does not lead to the root of the checkpoint')
    print(`event ${proof.index} of ${size} in ${origin}: ${proof.entry.toString()}`)
    for (const { key, time } of signatures)
      if (time !== undefined)
        print(`recorded before ${new Date(time * 1000).toISOString()}, cosigned by ${key.name}`)
    return 0
  } catch (error) {
    if (!(error instanceof InvalidNote)) throw error
    print(`the proof is wrong: ${error.message}`)
    return 1
  }
}
