import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { masterKeys, type MasterKeyText } from '../../domain/secrets/master-keys.js'

/** Returns no keys if the file does not exist. */
export const readKeyFile = (path: string): readonly MasterKeyText[] => {
  const text = textIn(path)
  if (text === undefined) return []
  const decoded = decode(masterKeys)(text)
  if (E.isRight(decoded)) return decoded.right
  throw new OperatorError(`${path} is invalid: it ${decoded.left[0]?.msg ?? ''}; newlines may replace commas`)
}

/** Undefined if the file does not exist. */
export const textIn = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new OperatorError(`${path} cannot be read`, { cause })
  }
}

/** Whether users other than the owner can read a file. */
export const isReadableByOthers = (path: string): boolean =>
  ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0

export const makeMasterKeyFile = (path: string): void =>
  makeKeyFile(path, `k${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`)

/**
 * Creates a file with mode 0600, durable on return. The file is linked to its name only when complete, so that concurrent
 * processes create it once and never read a partial key.
 */
export const makeKeyFile = (path: string, text: string): void => {
  const scratch = `${path}.${randomBytes(8).toString('hex')}.new`
  try {
    writeDurably(scratch, text)
    linkSync(scratch, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
      throw new OperatorError(`${path} cannot be created`, { cause })
  } finally {
    discard(scratch)
  }
  syncDirectory(dirname(path))
}

const writeDurably = (path: string, text: string) => {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const discard = (path: string) => {
  try {
    unlinkSync(path)
  } catch {
    // The file was not created.
  }
}

/** The names in a directory survive a loss of power only once it was synced. */
const syncDirectory = (path: string): void => {
  const directory = openSync(path, 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
