import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const textOf = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const filesIn = (directory: string, ending: string): readonly string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending) && !/(^|\/)(\.venv[^/]*|node_modules)\//.test(path))
    .map((path) => join(directory, path))

const DOCS = filesIn('docs', '.md')
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', ...DOCS]

/** Targets of links to files of the repository. */
const linksIn = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^\w+:/.test(target))

/** The anchors that headings have on GitHub. */
const anchorsIn = (page: string): ReadonlySet<string> =>
  new Set(
    [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/ /g, '-'),
    ),
  )

const FILES = ['bench', 'demo', 'docker', 'docs', 'examples', 'src', 'test'].flatMap((folder) =>
  filesIn(folder, ''),
)
const FOLDER_NAMES = new Set(FILES.flatMap((file) => dirname(file).split('/')))

/** Words in backticks that look like paths of the repository, such as `src/api`, `api/run.ts` or `run.ts`. */
const pathsIn = (page: string): readonly string[] =>
  [
    ...textOf(page)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/`([\w.-]+(?:\/[\w.-]+)*)\/?`/g),
  ]
    .map(([, path]) => path!)
    .filter((path) => !/^application\/(?:jsonl?|x-protobuf)$/.test(path))
    .filter((path) => {
      const [first, ...rest] = path.split('/')
      return /\.(?:cjs|md|sql|ts)$/.test(path) || (rest.length > 0 && FOLDER_NAMES.has(first!))
    })

/** A path may begin in any folder, and leave out the ending of a test. */
const isPath = (path: string): boolean =>
  existsSync(join(ROOT, path)) ||
  FILES.some((file) => [path, `${path}.test.ts`].some((known) => `/${file}`.endsWith(`/${known}`)))

describe('the documentation', () => {
  it('names only files and folders that exist', () => {
    assert.deepEqual(
      PAGES.flatMap((page) =>
        pathsIn(page)
          .filter((path) => !isPath(path))
          .map((path) => `${page}: ${path}`),
      ),
      [],
    )
  })

  it('has only links to files and headings that exist', () => {
    for (const page of PAGES)
      for (const link of linksIn(page)) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : normalize(join(dirname(page), path))
        assert.ok(existsSync(join(ROOT, target)), `${page}: ${link}`)
        if (anchor !== undefined) assert.ok(anchorsIn(target).has(anchor), `${page}: ${link}`)
      }
  })

  it('lists every page in its index', () => {
    const listed = new Set(linksIn('docs/index.md').map((link) => normalize(join('docs', link))))
    assert.deepEqual(
      DOCS.filter((page) => page !== 'docs/index.md' && !listed.has(page)),
      [],
    )
  })

  it('describes exactly the environment variables that the configuration reads', () => {
    const read = new Set(textOf('src/config.ts').match(/\b(TALLYTREE|CLICKHOUSE|EVENTSTORE)_[A-Z_]+\b/g))
    const rows = textOf('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)
    assert.deepEqual([...rows].map((row) => row[1]).sort(), [...read].sort())
  })

  it('names only scripts of package.json', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
    for (const page of PAGES)
      for (const [, name] of textOf(page).matchAll(/npm run ([\w:]+)/g))
        assert.ok(name! in scripts, `${page}: npm run ${name!}`)
  })

  it('has every page and heading that the source names', () => {
    for (const file of filesIn('src', '.ts'))
      for (const [, page, anchor] of textOf(file).matchAll(/(docs\/[\w/.-]*\w)(?:#([\w-]+))?/g)) {
        if (textOf(file).includes(`://clickhouse.com/${page!}`)) continue
        const exists = statSync(join(ROOT, page!), { throwIfNoEntry: false }) !== undefined
        assert.ok(exists || DOCS.some((known) => known.startsWith(page!)), `${file}: ${page!}`)
        if (anchor !== undefined) assert.ok(anchorsIn(page!).has(anchor), `${file}: ${page!}#${anchor}`)
      }
  })
})
