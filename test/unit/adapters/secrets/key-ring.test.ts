import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { isReadableByOthers } from '../../../../src/adapters/secrets/key-file.js'
import { openKeyRing } from '../../../../src/adapters/secrets/key-ring.js'
import { inScratch, someKey } from './given.js'

const lineOf = ({ id, base64 }: ReturnType<typeof someKey>) => `${id}:${base64}=\n`

/** Makes the file in processes of their own, which begin together; what each then takes for the active key. */
const makeTogether = (path: string, processes: number): readonly string[] => {
  const program = `
    import { openKeyRing } from './src/adapters/secrets/key-ring.ts'
    while (Date.now() < ${Date.now() + 1500}) {}
    console.log(openKeyRing([], process.argv[1]).active().id)`
  const run = `for n in $(seq ${processes}); do node --import tsx --input-type=module -e "$0" "$1" & done; wait`
  const { stdout, stderr } = spawnSync('bash', ['-c', run, program, path], { encoding: 'utf8' })
  assert.equal(stderr, '')
  return stdout.trim().split('\n')
}

describe('the ring of master keys', () => {
  it('makes a key where there is none, for its owner alone, when one is needed', () =>
    inScratch(async (directory) => {
      const path = join(directory, 'master-keys')
      const ring = openKeyRing([], path)
      assert.deepEqual(readdirSync(directory), [])

      const { id } = ring.active()

      assert.deepEqual(readdirSync(directory), ['master-keys'])
      assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.match(readFileSync(path, 'utf8'), /^k[0-9a-f]{8}:[A-Za-z0-9+/]{43}=\n$/)
      assert.equal(openKeyRing([], path).active().id, id)
    }))

  it('makes one key though several processes need it at once', () =>
    inScratch(async (directory) => {
      const path = join(directory, 'master-keys')
      const active = makeTogether(path, 4)

      assert.equal(active.length, 4)
      assert.equal(new Set(active).size, 1)
      assert.deepEqual(readdirSync(directory), ['master-keys'])
    }))

  it('makes nothing where a key is given, and finds those in the file behind it', () =>
    inScratch(async (directory) => {
      const path = join(directory, 'master-keys')
      const [given, inFile] = [someKey('given'), someKey('in-file')]
      const ring = openKeyRing([given], path)

      assert.equal(ring.active().id, 'given')
      assert.equal(ring.find('in-file'), undefined)
      assert.deepEqual(readdirSync(directory), [])

      writeFileSync(path, lineOf(inFile) + lineOf(given))
      assert.equal(ring.find('in-file')?.id, 'in-file', 'which another process made')
      assert.equal(ring.active().id, 'given')
    }))

  it('refuses what cannot be a ring, and quotes nothing of it', () =>
    inScratch(async (directory) => {
      const path = join(directory, 'master-keys')
      const key = someKey('one')
      for (const text of [
        '',
        'one',
        key.base64,
        `one:${key.base64.slice(1)}`,
        lineOf(key) + lineOf(key),
        'a.b:x',
      ]) {
        writeFileSync(path, text)
        assert.throws(
          () => openKeyRing([], path),
          ({ name, message }: Error) => {
            assert.equal(name, 'OperatorError')
            assert.match(message, /master-keys is invalid: it must be id:key/)
            assert.ok(!message.includes(key.base64.slice(1)))
            return true
          },
        )
      }
      writeFileSync(path, lineOf(someKey('one')))
      assert.throws(() => openKeyRing([key], path), { message: /the master key one has different values/ })
    }))

  it('shows no key when it is printed', () => {
    const key = someKey('one')
    const shown = inspect(openKeyRing([key], '/nowhere/master-keys').active(), { depth: 9, showHidden: true })
    assert.ok(!shown.includes(key.base64.slice(0, 12)))
    assert.ok(!shown.includes(Buffer.from(key.base64, 'base64').toString('hex').slice(0, 6)))
  })

  it('tells of a file that others may read', () =>
    inScratch(async (directory) => {
      const path = join(directory, 'master-keys')
      assert.equal(isReadableByOthers(path), false)
      openKeyRing([], path).active()
      assert.equal(isReadableByOthers(path), false)
      chmodSync(path, 0o640)
      assert.equal(isReadableByOthers(path), true)
    }))
})
