import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { openKeyRing, type KeyRing } from '../../../../src/adapters/secrets/key-ring.js'

export const someKey = (id: string) => ({ id, base64: randomBytes(32).toString('base64').slice(0, 43) })

export const ringOf = (...keys: readonly ReturnType<typeof someKey>[]): KeyRing =>
  openKeyRing(keys, '/nowhere/master-keys')

/** A directory for a test, gone afterwards. */
export const inScratch = async (check: (directory: string) => Promise<void>): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-secrets-'))
  try {
    await check(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export const arbitrarySecret = fc.record({
  team: fc.stringMatching(/^[A-Za-z0-9._-]{1,128}$/),
  name: fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
  version: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
})

export const arbitraryValue = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 500 })
  .filter((value) => value.isWellFormed())

/** A value as it might show up somewhere: itself, in base64 at any offset, and in hexadecimal. */
export const spellingsOf = (value: string): readonly string[] => {
  const bytes = Buffer.from(value)
  const inBase64 = [0, 1, 2].map((offset) => bytes.subarray(offset).toString('base64').slice(0, -4))
  return [
    value,
    ...inBase64,
    ...inBase64.map(urlSafe),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
  ]
}

const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_')
