import assert from 'node:assert/strict'
import { openInMemoryBlobStore } from '../../../src/adapters/blobs/in-memory-blob-store.js'
import { openFileSpools } from '../../../src/adapters/spools/file-spools.js'
import { openKeeping } from '../../../src/gateway/completions/keeping.js'
import { AnswerBuilder } from '../../../src/gateway/answer/answer-builder.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Spools } from '../../../src/kernel/ports/spools.js'
import { scratchDirectory } from '../../support/scratch.js'
import { until } from '../../support/until.js'

const ANSWER_LIMITS = { inMemory: 1000, spooled: 1_000_000 }

/** Spools of which so many are open. */
const counted = (spools: Spools) => {
  let open = 0
  const counting: Spools = {
    open: async () => {
      const spool = await spools.open()
      open += 1
      return {
        ...spool,
        close: async () => {
          await spool.close()
          open -= 1
        },
      }
    },
  }
  return { counting, open: () => open }
}

describe('keeping a streamed answer', () => {
  const blobs = openInMemoryBlobStore()
  const logged: string[] = []
  const log = { info: (event: string) => logged.push(event), warn: (event: string) => logged.push(event) }

  /** An answer of so many pieces of a hundred characters. */
  const kept = async (spools: Spools, pieces: number, isQuick = false, patienceMs?: number) => {
    const answer = new AnswerBuilder('acme/chat', ANSWER_LIMITS)
    const keeping = openKeeping({ blobs, spools, log }, patienceMs)(answer)
    for (let piece = 0; piece < pieces; piece += 1) {
      answer.take({}, [{ delta: { content: 'x'.repeat(100) } }])
      await keeping.makeRoom()
      assert.ok(!answer.memory.isDue)
    }
    const { output, spilled } = await keeping.output(isQuick)
    const { output: place } = spilled
    const whole = place && (JSON.parse(String(Buffer.from((await blobs.get(place.digest))!))) as JsonObject)
    const [choice] = (whole ?? output)?.['choices'] as readonly { message: { content: string } }[]
    return {
      isSpilled: place !== undefined,
      characters: choice!.message.content.length,
      isCut: (whole ?? output)?.['tallytree_truncated'] === true,
    }
  }

  it('opens no spool for what memory may hold, and closes every other', async () => {
    const { counting, open } = counted(openFileSpools(await scratchDirectory()))
    assert.deepEqual(await kept(counting, 5), { isSpilled: false, characters: 500, isCut: false })
    assert.equal(open(), 0)
    for (const isQuick of [false, true]) {
      const { characters, ...way } = await kept(counting, 100, isQuick)
      assert.equal(characters, isQuick ? 500 : 10_000)
      assert.deepEqual(way, { isSpilled: !isQuick, isCut: isQuick })
      await until(() => open() === 0)
    }
    assert.deepEqual(logged, [])
  })

  it('needs no spool either for what goes from memory into its blob', async () => {
    const { counting, open } = counted({ open: () => Promise.reject(new Error('none')) })
    assert.deepEqual(await kept(counting, 10), { isSpilled: true, characters: 1000, isCut: false })
    assert.equal(open(), 0)
  })

  it('waits for the disk no longer than it may, and lets go of what comes too late', async () => {
    const spools = openFileSpools(await scratchDirectory())
    let goOn: () => void = () => undefined
    const late = new Promise<void>((resolve) => (goOn = resolve))
    const { counting, open } = counted(spools)
    const hung: Spools = { open: () => late.then(() => counting.open()) }
    assert.deepEqual(await kept(hung, 100, false, 20), { isSpilled: false, characters: 500, isCut: true })
    assert.deepEqual(logged, ['gateway.recording_truncated'])
    let opened = false
    const watched = late.then(() => new Promise(setImmediate))
    goOn()
    await watched.then(() => (opened = true))
    await until(() => opened && open() === 0)
  })
})
