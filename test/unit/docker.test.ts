import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { readConfig } from '../../src/config.js'
import { scratchDirectory } from '../support/scratch.js'

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Variables of ours as a file sets them, with what it takes from its caller filled in. */
const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [
      ...text.matchAll(
        /^ +(?:ENV )?((?:TALLYTREE_|EVENTSTORE_URL|CLICKHOUSE_URL)\w*)(?:: |=)(\S.*?)(?: \\)?$/gm,
      ),
    ].map(([, name, value]) => [
      name!,
      value!.replaceAll(/\$\{\w+(?::-|:\?[^}]*)?\}/g, `long-enough:${'A'.repeat(43)}`),
    ]),
  )

describe('the container', () => {
  it('starts the program with the script that npm start uses', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }

    assert.equal(scripts['start'], 'exec bin/start main')
    assert.equal(scripts['tallytree'], 'exec bin/start cli')
    assert.match(textOf('docker/Dockerfile'), /^CMD \["bin\/start", "main"\]$/m)
  })

  it('is built on the newest line of Node with long-term support, and publishes to its own machine alone', () => {
    const dockerfile = textOf('docker/Dockerfile')
    const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    assert.deepEqual(images, ['node:26-bookworm', 'node:26-bookworm-slim'])
    for (const file of ['docker/Dockerfile', 'docker/compose.yaml', 'README.md', 'docs/operations.md'])
      for (const [published] of textOf(file).matchAll(/(?:[\d.]+:)?\b4600:4600\b/g))
        assert.equal(published, '127.0.0.1:4600:4600', file)
  })

  it('has a list of its components', () => {
    assert.match(textOf('docker/Dockerfile'), /npm prune --omit=dev && npm run -s sbom > dist\/sbom\.json/)
    const ran = spawnSync('npm', ['run', '-s', 'sbom'], {
      cwd: new URL('../..', import.meta.url),
      encoding: 'utf8',
    })
    const { bomFormat, components } = JSON.parse(ran.stdout) as {
      bomFormat: string
      components: readonly { readonly name: string; readonly version: string }[]
    }
    assert.equal(bomFormat, 'CycloneDX')
    const names = components.map(({ name }) => name)
    for (const name of ['koa', 'io-ts', 'better-sqlite3', 'chdb']) assert.ok(names.includes(name), name)
    assert.ok(!names.includes('mocha'))
  })

  it('sets variables that the program reads, to values that it takes', () => {
    const known = new Set(textOf('src/config.ts').match(/\b(?:TALLYTREE|CLICKHOUSE|EVENTSTORE)_[A-Z_]+\b/g))
    const image = variablesIn(textOf('docker/Dockerfile'))
    const composed = variablesIn(textOf('docker/compose.yaml'))
    const variables = { ...image, ...composed }

    assert.deepEqual(Object.keys(image), ['TALLYTREE_HOST', 'TALLYTREE_PORT', 'TALLYTREE_DATA_DIR'])
    assert.deepEqual(Object.keys(composed), [
      'EVENTSTORE_URL',
      'CLICKHOUSE_URL',
      'TALLYTREE_BOOTSTRAP_API_KEY',
      'TALLYTREE_MASTER_KEYS',
    ])
    for (const name of Object.keys(variables)) assert.ok(known.has(name), name)
    const { port, host, dataDirectory, roles } = readConfig(variables)
    assert.deepEqual(
      { port, host, dataDirectory, roles: roles.size },
      { port: 4600, host: '0.0.0.0', dataDirectory: '/data', roles: 3 },
    )
  })

  it('starts what the build makes, as somebody without rights', () => {
    const dockerfile = textOf('docker/Dockerfile')

    assert.match(dockerfile, /^USER node$/m)
    assert.ok(dockerfile.indexOf('USER node') < dockerfile.indexOf('\nCMD'))
    for (const path of dockerfile
      .match(/^COPY (?!--from)(.*) \S+$/gm)!
      .flatMap((line) => line.split(' ').slice(1, -1)))
      assert.ok(
        textOf('docker/Dockerfile.dockerignore')
          .split('\n')
          .includes(`!${path.replace('./', '')}`),
        path,
      )
  })
})

interface ComposedService {
  readonly image?: string
  readonly entrypoint?: readonly [string, string, string]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposedService>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

const composeFile = (path: string) => parse(textOf(path), { merge: true }) as ComposeFile

describe('docker/compose.scale.yaml', () => {
  const { services, secrets } = composeFile('docker/compose.scale.yaml')
  const programs = Object.values(services).filter(({ environment }) => environment?.['TALLYTREE_ROLES'])

  it('makes variables that the program takes, with values of files', async () => {
    const directory = await scratchDirectory()
    for (const name of Object.keys(secrets))
      writeFileSync(join(directory, name), 'k1:' + 'A'.repeat(43) + '=\n')
    const known = new Set(textOf('src/config.ts').match(/\b(?:TALLYTREE|CLICKHOUSE|EVENTSTORE)_[A-Z_]+\b/g))

    const roles = programs.map(({ entrypoint, environment, secrets: mounted }) => {
      const [shell, option, script] = entrypoint!
      const printing = script
        .replaceAll('$$', '$')
        .replaceAll('/run/secrets', directory)
        .replace('cd /app', '')
        .replace('bin/start main', 'env -0')
      const { stdout } = spawnSync(shell, [option, printing], {
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          ...environment,
          TALLYTREE_PUBLIC_URL: environment!['TALLYTREE_PUBLIC_URL']!.replace(/^\$\{\w+:-(.*)\}$/, '$1'),
        },
      })
      const variables = Object.fromEntries(
        stdout
          .split('\0')
          .map((line) => line.split(/=(.*)/s, 2) as [string, string])
          .filter(([name]) => /^(?:TALLYTREE|CLICKHOUSE|EVENTSTORE)_/.test(name)),
      )
      for (const name of Object.keys(variables)) assert.ok(known.has(name), name)
      assert.deepEqual([...mounted!].sort(), Object.keys(secrets))
      const config = readConfig(variables)
      assert.equal(config.masterKeys.length, 1)
      assert.ok(config.eventStoreUrl !== null && config.clickHouseUrl !== null && config.objects !== null)
      assert.equal(config.apiProcesses, 2)
      return [...config.roles].join()
    })

    assert.deepEqual(roles, ['api', 'api', 'projector', 'dispatcher'])
  })

  it('names the files of secrets that its first lines make', () => {
    const made = [...textOf('docker/compose.scale.yaml').matchAll(/^# .*> docker\/(secrets\/\S+)$/gm)]
    assert.deepEqual(
      made.map(([, file]) => file),
      Object.values(secrets).map(({ file }) => file),
    )
  })

  it('has versions of all images, the same as docker/compose.yaml', () => {
    const alone = composeFile('docker/compose.yaml').services
    for (const [name, { image }] of Object.entries(services)) {
      if (image !== undefined) assert.match(image, /:\d[\d.]*$/)
      assert.equal(image, alone[name]?.image ?? image)
    }
  })

  it('asks programs whether they are ready', () => {
    for (const { healthcheck } of programs) assert.match(healthcheck!.test.join(' '), /\/health\/ready/)
    assert.match(textOf('docker/compose.scale.yaml'), /health_uri \/health\/ready/)
  })
})
