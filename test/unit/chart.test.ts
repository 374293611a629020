import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config.js'
import { scratchDirectory } from '../support/scratch.js'
import { itWith } from '../support/skipping.js'

const HELM = process.env['TEST_HELM'] ?? 'helm'
/** Of PyPI: it has Kubernetes' schemas with it. */
const VALIDATE = process.env['TEST_KUBERNETES_VALIDATE'] ?? 'kubernetes-validate'
/** The oldest of the chart that the validator has, and the newest. */
const KUBERNETES = ['1.25', '1.37']

const CHART = fileURLToPath(new URL('../../docker/chart', import.meta.url))
const textOf = (path: string): string => readFileSync(join(CHART, path), 'utf8')
const declared = new Set(
  readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8').match(
    /\b(?:TALLYTREE|CLICKHOUSE|EVENTSTORE)_[A-Z_]+\b/g,
  ),
)

const SECRETS: Readonly<Record<string, string>> = {
  EVENTSTORE_URL: 'esdb://host:2113?tls=true',
  CLICKHOUSE_URL: 'http://user:password@host:8123/tallytree',
  TALLYTREE_BOOTSTRAP_API_KEY: 'administrator-key',
  TALLYTREE_MASTER_KEYS: `one:${'A'.repeat(43)}=`,
  AWS_ACCESS_KEY_ID: 'key',
  AWS_SECRET_ACCESS_KEY: 'secret',
}

const BUCKET = 'objects.url=s3://bucket/prefix?region=eu-central-1'
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  'a bucket alone': [],
  'an ingress': [
    ...['ingress.enabled=true', 'ingress.host=traces.example', 'ingress.className=nginx'],
    ...['ingress.tlsSecret=certificate', 'config.TALLYTREE_PUBLIC_URL=https://traces.example'],
  ],
  'secrets of other names': ['secrets.stores=one', 'secrets.masterKeys=other', 'secrets.bucket=third'],
  'one pod a role': ['api.replicas=1'],
  'three pods a role': ['api.replicas=3', 'projector.replicas=3', 'dispatcher.replicas=3'],
  'files, variables and OTLP over gRPC': [
    ...['service.otlpGrpcPort=4317', 'env[0].name=TALLYTREE_UPSTREAMS_FILE', 'env[0].value=/etc/u/u.json'],
    ...[
      'volumes[0].name=upstreams',
      'volumes[0].configMap.name=upstreams',
      'config.TALLYTREE_STOP_SECONDS=60',
    ],
    ...['volumeMounts[0].name=upstreams', 'volumeMounts[0].mountPath=/etc/u'],
    ...['podAnnotations.one=two', 'nodeSelector.disk=ssd', 'serviceAccount.annotations.role=arn'],
  ],
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } }
}

interface Container {
  readonly env: readonly Variable[]
  readonly startupProbe: unknown
  readonly livenessProbe: { readonly httpGet: { readonly path: string } }
  readonly readinessProbe: { readonly httpGet: { readonly path: string } }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly replicas: number
    readonly strategy: { readonly rollingUpdate: { readonly maxUnavailable: number } }
    readonly template: {
      readonly spec: {
        readonly containers: readonly [Container]
        readonly volumes: readonly Readonly<Record<string, unknown>>[]
        readonly terminationGracePeriodSeconds: number
        readonly enableServiceLinks: boolean
      }
    }
  }
}

const helmTemplate = (...flags: readonly string[]) =>
  spawnSync(HELM, ['template', 'tallytree', CHART, '--kube-version', KUBERNETES.at(-1)!, ...flags], {
    encoding: 'utf8',
  })

const rendered = (given: readonly string[]) => helmTemplate(...given.flatMap((value) => ['--set', value]))

const manifestsOf = (given: readonly string[]): { text: string; manifests: readonly Manifest[] } => {
  const { status, stdout, stderr } = rendered([BUCKET, ...given])
  assert.equal(status, 0, stderr)
  const manifests = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
  return { text: stdout, manifests }
}

const variablesOf = ({ env }: Container) =>
  Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [name, value ?? SECRETS[valueFrom?.secretKeyRef.key ?? '']]),
  )

describe('the Helm chart', () => {
  it('has the version of the program', () => {
    const { version, appVersion } = parse(textOf('Chart.yaml')) as Record<string, string>
    const program = JSON.parse(readFileSync(join(CHART, '../../package.json'), 'utf8')) as { version: string }
    assert.deepEqual({ version, appVersion }, { version: program.version, appVersion: program.version })
  })

  it('sets only variables that the program reads', () => {
    const texts = ['values.yaml', ...readdirSync(join(CHART, 'templates')).map((name) => `templates/${name}`)]
    const named = texts.flatMap(
      (path) => textOf(path).match(/\b(?:TALLYTREE|CLICKHOUSE|EVENTSTORE)_[A-Z_]+\b/g) ?? [],
    )
    assert.ok(named.length > 0)
    for (const name of named) assert.ok(declared.has(name), name)
  })

  itWith(HELM)('is refused without a bucket, because pods keep nothing', () => {
    const { status, stderr } = rendered([])
    assert.notEqual(status, 0)
    assert.match(stderr, /objects\.url is not set: name the bucket/)
    assert.match(rendered(['objects.url=https://bucket']).stderr, /objects\/url|objects\.url/)
  })

  itWith(HELM)('takes the values of docs/kubernetes.md', async () => {
    const [, values] = /^```yaml\n(.*?)^```$/ms.exec(textOf('../../docs/kubernetes.md'))!
    const file = join(await scratchDirectory(), 'values.yaml')
    await writeFile(file, values!)
    const { status, stderr } = helmTemplate('-f', file)
    assert.equal(status, 0, stderr)
  })

  for (const [name, given] of Object.entries(GIVEN)) {
    itWith(HELM)(
      `renders roles that keep nothing and are replaced once others are ready, with ${name}`,
      () => {
        const { manifests } = manifestsOf(given)
        const deployments = manifests.filter(({ kind }) => kind === 'Deployment')
        const roles = deployments.map(({ spec }) => {
          const { containers, volumes, terminationGracePeriodSeconds } = spec.template.spec
          const [container] = containers
          assert.equal(spec.strategy.rollingUpdate.maxUnavailable, 0)
          assert.equal(container.livenessProbe.httpGet.path, '/health/live')
          assert.equal(container.readinessProbe.httpGet.path, '/health/ready')
          assert.deepEqual(
            volumes.slice(0, 2).map((volume) => Object.keys(volume)),
            [
              ['name', 'emptyDir'],
              ['name', 'emptyDir'],
            ],
          )
          const config = readConfig(variablesOf(container))
          assert.ok(terminationGracePeriodSeconds > config.stopSeconds)
          assert.ok(config.eventStoreUrl !== null && config.clickHouseUrl !== null && config.objects !== null)
          assert.equal(config.masterKeys.length, 1)
          return [...config.roles].join()
        })
        assert.deepEqual(roles, ['api', 'projector', 'dispatcher'])
        const budgets = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')
        assert.deepEqual(
          budgets.map((budget) => budget.metadata.name).sort(),
          deployments
            .filter(({ spec }) => spec.replicas > 1)
            .map((deployment) => deployment.metadata.name)
            .sort(),
        )
      },
    )

    itWith(HELM, VALIDATE)(`has manifests that Kubernetes takes, with ${name}`, async () => {
      const file = join(await scratchDirectory(), 'manifests.yaml')
      await writeFile(file, manifestsOf(given).text)
      for (const version of KUBERNETES) {
        const { status, stdout, stderr } = spawnSync(VALIDATE, ['--strict', '-k', version, file], {
          encoding: 'utf8',
        })
        assert.equal(status, 0, stdout + stderr)
      }
    })
  }
})
