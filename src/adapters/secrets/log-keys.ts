import { createSecretKey, randomBytes } from 'node:crypto'
import { writeFileAtomic } from '../../kernel/atomic-file.js'
import type { LogKeys } from '../../kernel/ports/log-keys.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { PRIVATE_FILE } from '../../kernel/private-files.js'
import { InvalidNote, newSignerKey, parseSignerKey, type SignerKey } from '../../kernel/tlog/note.js'
import { makeKeyFile, textIn } from './key-file.js'

/** One key a line: of signatures, the newest first, of cosignatures, and of salts. */
interface KeyFile {
  readonly signers: readonly SignerLine[]
  /** In base64. */
  readonly salt: string
  readonly origin: string
}

interface SignerLine {
  readonly key: SignerKey
  /** When it ceases to sign, in milliseconds since 1970. */
  readonly until: number
}

const UNTIL = / until (\S+)$/
const SALT = 'SALT+KEY+'
const SALT_KEY_BYTES = 32

/** Undefined if there is no file. @throws OperatorError */
export const readLogKeys = (path: string): LogKeys | undefined => {
  const text = textIn(path)
  return text === undefined ? undefined : logKeysIn(text, path)
}

/** `named`: where the text is from. @throws OperatorError */
export const logKeysIn = (text: string, named: string): LogKeys => {
  const { origin, signers, salt } = parsedKeys(text, named)
  return {
    origin,
    all: signers.map(({ key }) => key),
    active: (now) => signers.filter(({ until }) => until > now.getTime()).map(({ key }) => key),
    salt: createSecretKey(Buffer.from(salt, 'base64')),
  }
}

const parsedKeys = (text: string, named: string): KeyFile => {
  const lines = text.split('\n').filter((line) => line !== '')
  try {
    const signers = lines.filter((line) => !line.startsWith(SALT)).map(signerLine)
    const salt = lines.find((line) => line.startsWith(SALT))?.slice(SALT.length) ?? ''
    const newest = signers.find(({ key, until }) => key.type === 'signature' && until === Infinity)
    if (newest !== undefined && Buffer.from(salt, 'base64').length === SALT_KEY_BYTES)
      return { signers, salt, origin: newest.key.name }
    throw new InvalidNote('a key is missing')
  } catch (cause) {
    if (!(cause instanceof InvalidNote)) throw cause
    throw new OperatorError(`${named} is not a file of log keys; restore it from a backup`, { cause })
  }
}

const signerLine = (line: string): SignerLine => {
  const until = UNTIL.exec(line)?.[1]
  const key = parseSignerKey(line.replace(UNTIL, ''))
  return { key, until: until === undefined ? Infinity : Date.parse(until) }
}

const textOf = ({ signers, salt }: Omit<KeyFile, 'origin'>): string =>
  [
    ...signers.map(({ key, until }) =>
      until === Infinity ? key.secret : `${key.secret} until ${new Date(until).toISOString()}`,
    ),
    `${SALT}${salt}\n`,
  ].join('\n')

/** Makes the keys of a new log. No other log has its origin. */
export const makeLogKeys = (path: string, host: string): void => makeKeyFile(path, newLogKeys(host))

export const newLogKeys = (host: string): string => {
  const origin = `${host}/log/${randomBytes(4).toString('hex')}`
  const keys = [newSignerKey(origin, 'signature'), newSignerKey(`${origin}/time`, 'cosignature')]
  const signers = keys.map((key) => ({ key, until: Infinity }))
  return textOf({ signers, salt: randomBytes(SALT_KEY_BYTES).toString('base64') })
}

const BOTH_SIGN_MS = 30 * 86_400_000

/** Adds a new key; those before it sign for 30 more days at most. Returns the end of that time. */
export const rotateLogKeys = async (path: string, now: Date): Promise<Date> => {
  const text = textIn(path)
  if (text === undefined)
    throw new OperatorError(`${path} does not exist: the first start of the service makes it`)
  const rotated = rotatedLogKeys(text, path, now)
  await writeFileAtomic(path, rotated.text, PRIVATE_FILE)
  return rotated.end
}

export const rotatedLogKeys = (
  text: string,
  named: string,
  now: Date,
): { readonly text: string; readonly end: Date } => {
  const { origin, signers, salt } = parsedKeys(text, named)
  const end = now.getTime() + BOTH_SIGN_MS
  const kept = signers.map(({ key, until }) => ({
    key,
    until: key.type === 'cosignature' ? until : Math.min(until, end),
  }))
  const added = { key: newSignerKey(origin, 'signature'), until: Infinity }
  return { text: textOf({ signers: [added, ...kept], salt }), end: new Date(end) }
}
