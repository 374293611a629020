import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { growingTree, HASH_BYTES, rootAt, TILE_HASHES } from '../../../src/kernel/tlog/merkle.js'
import { parseCheckpoint, type Checkpoint } from '../../../src/kernel/tlog/note.js'
import { COUNTS } from '../../counts.js'
import { writeSteadily } from '../../support/faults/write-steadily.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { until } from '../../support/until.js'

const ROUNDS = COUNTS.sealingKills
const PROJECT = 'default/sealed'
const MAX_WAIT_MS = 4000

describe('kill -9 of a service that seals its log', () => {
  let service: RunningService
  before(async () => (service = await startRunningService()))
  after(() => service.remove())

  const checkpoint = async (): Promise<Checkpoint | undefined> => {
    const answer = await service.send('GET', '/api/log/checkpoint').catch(() => undefined)
    return answer?.status === 200 ? parseCheckpoint(answer.text) : undefined
  }

  /** Asks for checkpoints without a break. */
  const collect = () => {
    const seen: Checkpoint[] = []
    let isOver = false
    const ask = async () => {
      while (!isOver) {
        const latest = await checkpoint()
        if (latest !== undefined) seen.push(latest)
        await sleep(20)
      }
    }
    const asking = ask()
    return {
      seen,
      stop: async () => {
        isOver = true
        await asking
      },
    }
  }

  const pathOf = (index: number, width: number) => {
    const digits = String(index).padStart(Math.ceil(String(index).length / 3) * 3, '0')
    const groups = digits.match(/\d{3}/g)!
    const path = groups.map((group, at) => (at === groups.length - 1 ? group : `x${group}`)).join('/')
    return width === TILE_HASHES ? path : `${path}.p/${width}`
  }

  /** The leaf hashes of the first `size` events, as the service serves them. */
  const leavesOf = async (size: number): Promise<readonly Buffer[]> => {
    const leaves: Buffer[] = []
    while (leaves.length < size) {
      const width = Math.min(TILE_HASHES, size - leaves.length)
      const path = pathOf(leaves.length / TILE_HASHES, width)
      const answer = await fetch(`${service.address}/api/log/tile/0/${path}`, {
        headers: { authorization: `Bearer ${service.key}` },
      })
      assert.equal(answer.status, 200, path)
      const hashes = Buffer.from(await answer.arrayBuffer())
      for (let at = 0; at < width; at += 1)
        leaves.push(hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES))
    }
    return leaves
  }

  it(`signs nothing that contradicts an earlier checkpoint in ${ROUNDS} rounds`, async () => {
    const writer = writeSteadily(service, PROJECT)
    const collected = collect()
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(Math.random() * MAX_WAIT_MS)
      await service.kill('SIGKILL')
      await service.restart()
    }
    await writer.stop()
    const events = (await service.send('GET', '/api/events')).text.trimEnd().split('\n').length
    await until(async () => ((await checkpoint())?.size ?? 0) >= events)
    await collected.stop()

    const latest = (await checkpoint())!
    const tree = growingTree(0, () => new Uint8Array())
    for (const leaf of await leavesOf(latest.size)) tree.add(leaf)
    const tiles = new Map(tree.changed().map(({ level, index, hashes }) => [`${level}/${index}`, hashes]))
    const sizes = new Set<number>()
    for (const { size, root } of [...collected.seen, latest]) {
      sizes.add(size)
      assert.ok(rootAt(size, (level, index) => tiles.get(`${level}/${index}`)!).equals(root), `size ${size}`)
    }
    const { count } = (await service.post('/calls/query_stats', { project_id: PROJECT })).json<{
      count: number
    }>()
    assert.equal(count, writer.written())
    console.log(`      ${ROUNDS} rounds: ${sizes.size} checkpoints, the last of ${latest.size} events`)
  })
})
