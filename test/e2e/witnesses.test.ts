import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openNote, parseVerifierKey } from '../../src/kernel/tlog/note.js'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { scratchDirectory } from '../support/scratch.js'
import { until } from '../support/until.js'
import { startWitness, type TestWitness } from '../support/witness.js'

describe('a service with witnesses', () => {
  let witness: TestWitness
  let service: RunningService
  before(async () => {
    witness = await startWitness()
    service = await startRunningService({ TALLYTREE_WITNESSES: witness.setting })
  })
  after(async () => {
    await service.remove()
    await witness.stop()
  })

  const textAt = async (path: string) => (await service.send('GET', path)).text
  const isCosigned = async () => (await textAt('/api/log/checkpoint')).includes(`\n— ${witness.key.name} `)

  it('publishes checkpoints with their cosignatures, also in proofs, and keeps them over a kill', async () => {
    const { verifier_keys } = JSON.parse(await textAt('/api/log/checkpoints')) as { verifier_keys: string[] }
    const logKeys = verifier_keys.map(parseVerifierKey)
    await until(async () => (await textAt('/health')).includes('it does not know the log'))
    witness.trust(logKeys)
    await service.in('team/witnessed').calls.start()
    await until(isCosigned)
    await service.kill('SIGKILL')
    await service.restart()
    await until(isCosigned)
    const checkpoint = await textAt('/api/log/checkpoint')
    assert.equal(openNote(checkpoint, [...logKeys, witness.key]).signatures.length, 3)

    const { id } = JSON.parse((await textAt('/api/events')).split('\n')[0]!) as { id: string }
    const proof = join(await scratchDirectory(), 'proof')
    await writeFile(proof, await textAt(`/api/log/proof?event=${id}`))
    const check = (key: string) => tallytree(['log', 'check', proof, '--verifier', key])
    const checked = await check(witness.key.text)
    assert.equal(checked.code, 0, checked.stdout)
    assert.match(checked.stdout, /recorded before \S+Z, cosigned by witness\.example\/w1\n/)
    assert.equal((await check(logKeys[0]!.text)).code, 0)
  })
})
