import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { startS3Double } from '../support/s3-double.js'
import { startPythonSdk, wandbVersions } from './python-sdk.js'

describe('the acceptance program of the package wandb', () => {
  const passesWith = async (version: string, environment: Readonly<Record<string, string>> = {}) => {
    const sdk = await startPythonSdk(
      { TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...environment },
      `.venv-wandb-${version}`,
    )
    try {
      const passed = await sdk.ran('wandb_acceptance.py', [], {
        TALLYTREE_URL: sdk.proxy.address,
        TALLYTREE_API_KEY: sdk.service.key,
        EVENTS: '1',
      })
      assert.ok(passed.startsWith(`all assertions hold: ${version} default/`), passed)
    } finally {
      await sdk.stop()
    }
  }

  for (const version of wandbVersions) {
    it(`passes with ${version}, and receives each of its eight messages once`, () => passesWith(version))

    for (const [how, option] of [
      ['over a bucket', () => ''],
      ['which uses the bucket itself', (port: number) => `&public_endpoint=http://localhost:${port}`],
    ] as const)
      it(`passes with ${version} ${how}`, async () => {
        const double = await startS3Double()
        try {
          await passesWith(version, {
            TALLYTREE_OBJECTS_URL: double.url + option(double.port),
            TALLYTREE_MASTER_KEYS: `one:${randomBytes(32).toString('base64')}`,
            AWS_ACCESS_KEY_ID: 'key',
            AWS_SECRET_ACCESS_KEY: 'secret',
          })
          const signed = double.requests.filter((request) => request.includes('X-Amz-Signature'))
          assert.equal(
            ['GET', 'PUT'].every((method) => signed.some((request) => request.startsWith(method))),
            option(0) !== '',
          )
        } finally {
          await double.stop()
        }
      })
  }
})
