import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../support/compiled.js'
import { scratchDirectory } from '../support/scratch.js'

/** The flags that the script gives to Node, with a program in its place that prints them. */
const flagsWith = async (environment: Record<string, string>): Promise<readonly string[]> => {
  const directory = await scratchDirectory()
  const node = join(directory, 'node')
  writeFileSync(node, '#!/bin/sh\nprintf "%s\\n" "$@"\n')
  chmodSync(node, 0o700)
  const env = { PATH: `${directory}:${process.env['PATH']}`, ...environment }
  return execFileSync(join(ROOT, 'bin/start'), ['main', 'an argument'], { env, encoding: 'utf8' })
    .trim()
    .split('\n')
}

const HEAP = '--max-old-space-size='

describe('bin/start', () => {
  it('limits the heap to TALLYTREE_MEMORY_MB', async () => {
    const flags = await flagsWith({ TALLYTREE_MEMORY_MB: '768' })
    assert.ok(flags.includes(`${HEAP}768`))
    assert.equal(flags.at(-1), 'an argument')
  })

  for (const given of ['', 'half'])
    it(`limits the heap to half of the memory at most when the variable is ${JSON.stringify(given)}`, async () => {
      const flags = await flagsWith({ TALLYTREE_MEMORY_MB: given })
      const heap = flags.find((flag) => flag.startsWith(HEAP))
      assert.ok(Number(heap?.slice(HEAP.length)) <= totalmem() / 2_097_152)
    })
})
