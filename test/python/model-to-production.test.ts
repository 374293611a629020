import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { answering, CURL_ONCE_READABLE, freePort, pageOf } from '../e2e/pages.js'
import { run } from '../e2e/run-program.js'
import { startRunningService } from '../support/running-service.js'
import { pythonIn, wandbVersions } from './python-sdk.js'

const blocks = pageOf('model-to-production.md')
const [starting, , training, listening, promoting] = blocks('sh')
const [train, promote] = blocks('python')
const [receiver] = blocks('js')

describe('the page on a model that goes into production', () => {
  it('ends with the message if all commands are pasted in one go', async () => {
    const [, name, value] = /^(\w+)=(\S+) npm start\n$/.exec(starting!) ?? []
    const service = await startRunningService({ [name!]: value! })
    const directory = await mkdtemp(join(tmpdir(), 'tallytree-production-'))
    const files = { 'train.py': train!, 'promote.py': promote!, 'receiver.mjs': receiver! }
    for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), text)
    const port = await freePort()
    const receiving = spawn(process.execPath, ['receiver.mjs'], {
      cwd: directory,
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    })
    try {
      await answering(`http://127.0.0.1:${port}`)
      const pasted = [CURL_ONCE_READABLE, training!, listening!, promoting!].join('\n')
      const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', pasted], directory, {
        WANDB_BASE_URL: service.address,
        WANDB_API_KEY: service.key,
        WANDB_ERROR_REPORTING: 'false',
        RECEIVER_URL: `http://127.0.0.1:${port}`,
        PATH: `${dirname(pythonIn(`.venv-wandb-${wandbVersions[0]!}`))}:${process.env['PATH']}`,
        HOME: directory,
        TMPDIR: directory,
      })
      assert.equal(code, 0, stderr)
      const message = await readFile(join(directory, 'message.json'), 'utf8')
      assert.equal(
        message,
        '{"deploy": "default/digits/classifier:production", "accuracy": 0.9900990099009901}',
      )
      assert.ok(stdout.endsWith(`${message}\n`))
    } finally {
      receiving.kill()
      await service.remove()
      await rm(directory, { recursive: true, force: true })
    }
  })
})
