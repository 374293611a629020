import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { COUNTS } from '../../counts.js'
import { until } from '../../support/until.js'
import {
  answers,
  answersHugely,
  answersInEndlessChunks,
  answersWithBomb,
  floodsHeaders,
  floodsTrailers,
} from '../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../support/receivers/receiver.js'

const TIMES = COUNTS.hostileAnswers

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MIB = 1024 * 1024

const ANSWERS: Readonly<Record<string, Behaviour>> = {
  'a body of 1 GB': answersHugely(200, 1_000_000_000),
  'a bomb of gzip': answersWithBomb(200),
  'chunks without end': answersInEndlessChunks(200),
  'headers without end': floodsHeaders,
  'trailers without end': floodsTrailers,
}

interface Cost {
  /** Bytes of the whole process, at its highest and when all was over. */
  readonly grownWhile: number
  readonly grownAfter: number
  /** The most bytes that were read from a socket, and that were kept of an answer. */
  readonly read: number
  readonly kept: number
}

describe('an answer that would fill the memory', () => {
  let costs: readonly Cost[]
  before(async () => {
    const ordinary = await startReceiver(answers(200, {}, 'x'.repeat(60_000)))
    const hostile: Receiver[] = []
    for (const behaviour of Object.values(ANSWERS)) hostile.push(await startReceiver(behaviour))
    const program = ['--expose-gc', '--import', 'tsx', 'test/support/faults/sending-child.ts', String(TIMES)]
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...program, ...[ordinary, ...hostile].map(({ url }) => url)],
      { cwd: ROOT },
    )
    costs = JSON.parse(stdout) as Cost[]
    await until(() => hostile.every((receiver) => receiver.open() === 0))
    for (const receiver of [ordinary, ...hostile]) await receiver.stop()
  })

  for (const [index, what] of Object.keys(ANSWERS).entries())
    it(`is left where it is: ${what}, ${TIMES} times`, () => {
      const cost = costs[index]!
      console.log(`      ${JSON.stringify(cost)}`)
      assert.ok(cost.kept <= 16_384)
      assert.ok(cost.read <= 3 * 65_536)
      assert.ok(cost.grownWhile < 5 * MIB)
    })
})
