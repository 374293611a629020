import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'

describe('the name of a file for fine-tuning', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const upload = async (filename: string) => {
    const head = `--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nfine-tune\r\n--b\r\n`
    const part = `Content-Disposition: form-data; name="file"; filename="${filename}"\r\n`
    const answer = await fetch(`${service.address}/v1/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ADMINISTRATOR_KEY}`,
        'openai-project': someProject(),
        'content-type': 'multipart/form-data; boundary=b',
      },
      body: `${head}${part}Content-Type: application/octet-stream\r\n\r\n{}\r\n--b--\r\n`,
    })
    return { status: answer.status, text: await answer.text() }
  }

  it('is one name that stays in any folder', async () => {
    for (const [given, kept] of [
      ['data.jsonl', 'data.jsonl'],
      ['häuser 🌳.jsonl', 'häuser 🌳.jsonl'],
      ['a..b', 'a..b'],
      // Browsers of old sent whole paths.
      ['../../etc/passwd', 'passwd'],
      ['/etc/passwd', 'passwd'],
      ['C:\\\\data\\\\a.jsonl', 'a.jsonl'],
    ] as const) {
      const { status, text } = await upload(given)
      assert.deepEqual([status, (JSON.parse(text) as { filename?: string }).filename], [200, kept], given)
    }
  })

  it('is refused where it leaves the folder, names a drive or has control characters', async () => {
    for (const given of ['..', 'a/..', '', 'C:evil', 'a\u0001b', 'a\tb', 'a\u007f']) {
      const { status, text } = await upload(given)
      assert.ok(status === 422 || status === 400, `${given}: ${text}`)
    }
  })
})
