import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** A source file of `src`, by its path from the root of the repository. */
interface Source {
  readonly path: string
  readonly node: ts.SourceFile
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)).config,
  ts.sys,
  '.',
)

const pathsIn = (extension: string): readonly string[] =>
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(extension))
    .map((path) => join('src', path))
    .sort()

const program = ts.createProgram(pathsIn('.ts'), options)
const checker = program.getTypeChecker()
const sources: readonly Source[] = pathsIn('.ts').map((path) => ({
  path,
  node: program.getSourceFile(path)!,
}))

const lineOf = ({ node: file }: Source, position: number): number =>
  file.getLineAndCharacterOfPosition(position).line + 1

/** Every node below a node, and the node itself. */
function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node
  const children: ts.Node[] = []
  ts.forEachChild(node, (child) => void children.push(child))
  for (const child of children) yield* nodesOf(child)
}

export const linesAndFiles = (
  extension: '.ts' | '.sql',
): { readonly lines: number; readonly files: number } => {
  const paths = pathsIn(extension)
  const lines = paths.reduce((sum, path) => sum + readFileSync(path, 'utf8').split('\n').length - 1, 0)
  return { lines, files: paths.length }
}

export interface LongFunction {
  readonly place: string
  readonly lines: number
}

/** Lines from the first of its parameters or keyword to its end. A closure counts, and so does the function around it. */
export const functionsOver = (max: number): readonly LongFunction[] =>
  sources
    .flatMap((source) =>
      [...nodesOf(source.node)]
        .filter((node) => ts.isFunctionLike(node) && 'body' in node && node.body !== undefined)
        .map((node) => {
          const first = lineOf(source, node.getStart(source.node))
          return { place: `${source.path}:${first}`, lines: lineOf(source, node.end) - first + 1 }
        }),
    )
    .filter(({ lines }) => lines > max)
    .sort((a, b) => b.lines - a.lines)

const STREAM_METHODS = /^(append|readStream|readAll|readBackwards|findEvent)$/
const STREAM_MODULES = /\/kernel\/(execute|fold-cache|kept-folds|aggregate)\.js$/

const usesStreams = (node: ts.Node): boolean =>
  (ts.isImportDeclaration(node) &&
    STREAM_MODULES.test((node.moduleSpecifier as ts.StringLiteral).text) &&
    importsValues(node)) ||
  (ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    STREAM_METHODS.test(node.expression.name.text) &&
    /\b(eventStore|store)$/.test(node.expression.expression.getText()))

const importsValues = ({ importClause }: ts.ImportDeclaration): boolean => {
  if (importClause === undefined || importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return false
  const names = importClause.namedBindings
  return (
    names === undefined || !ts.isNamedImports(names) || names.elements.some(({ isTypeOnly }) => !isTypeOnly)
  )
}

/** Files of `api` that import what writes and folds streams, or call the event store. */
export const streamsInApi = (): readonly string[] =>
  sources
    .filter(({ path, node }) => path.startsWith('src/api/') && [...nodesOf(node)].some(usesStreams))
    .map(({ path }) => path)

type AnswerCheck = 'checked' | 'text' | 'unchecked'

export interface RouteAnswer {
  readonly place: string
  readonly check: AnswerCheck
}

const ROUTE_KINDS = 'src/api/server/route-kinds.ts'

/** One for each call of a function that `route-kinds.ts` exports. */
export const routeAnswers = (): readonly RouteAnswer[] => {
  const module = checker.getSymbolAtLocation(program.getSourceFile(ROUTE_KINDS)!)!
  const kinds = new Set(checker.getExportsOfModule(module).map(({ name }) => name))
  return sources
    .filter(({ path }) => path !== ROUTE_KINDS)
    .flatMap((source) =>
      [...nodesOf(source.node)]
        .filter((node) => ts.isCallExpression(node))
        .filter(({ expression }) => ts.isIdentifier(expression) && kinds.has(expression.text))
        .map((call) => ({
          place: `${source.path}:${lineOf(source, call.getStart())}`,
          check: checkOf(call),
        })),
    )
}

/**
 * Checked: both the response of the route and the parameter of its kind have the type of an answer, as codecs do. Text: the
 * response names a content type and no answer.
 */
const checkOf = ({ arguments: given }: ts.CallExpression): AnswerCheck => {
  const spec = given.at(-1)!
  const response = memberOf(checker.getTypeAtLocation(spec), 'response')
  const answer = memberOf(response, 'answer')
  if (answer === undefined) return memberOf(response, 'type') === undefined ? 'unchecked' : 'text'
  const isTied = memberOf(memberOf(checker.getContextualType(spec), 'response'), 'answer') !== undefined
  return isTied && (answer.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) === 0 ? 'checked' : 'unchecked'
}

const memberOf = (type: ts.Type | undefined, name: string): ts.Type | undefined => {
  const member = type?.getProperty(name)
  return member === undefined ? undefined : checker.getTypeOfSymbol(member)
}

export const doubleAssertions = (): number =>
  sources
    .flatMap(({ node }) => [...nodesOf(node)])
    .filter(
      (node) =>
        ts.isAsExpression(node) &&
        ts.isAsExpression(node.expression) &&
        node.expression.type.kind === ts.SyntaxKind.UnknownKeyword,
    ).length

interface LayerRule {
  readonly name: string
  readonly from: { readonly path: string }
  readonly to: { readonly path: string }
}

/** Imports that break the rule `features-in-order`, including its exceptions. */
export const outOfOrder = (): readonly string[] => {
  const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
    readonly forbidden: readonly LayerRule[]
  }
  const rules = forbidden.filter(({ name }) => name === 'features-in-order')
  const isForbidden = (from: string, to: string) =>
    rules.some((rule) => {
      const room = new RegExp(rule.from.path).exec(from)?.[1]
      return room !== undefined && new RegExp(rule.to.path.replace('$1', room)).test(to)
    })
  return sources.flatMap(({ path, node }) =>
    node.statements
      .filter((statement) => ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))
      .map(({ moduleSpecifier }) => (moduleSpecifier as ts.StringLiteral | undefined)?.text ?? '')
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => join(dirname(path), specifier).replace(/\.js$/, '.ts'))
      .filter((imported) => isForbidden(path, imported))
      .map((imported) => `${path} -> ${imported}`),
  )
}

interface DeclaredTable {
  readonly name: string
  readonly columns: readonly string[]
  /** Of its projection. */
  readonly folder: string
}

export interface ColumnPlaces {
  readonly column: string
  readonly places: number
}

/**
 * Places in the folder of the projection that name a column and are no reads of it: its declaration, its place in a list, its place among values by position, and members of interfaces. Only columns whose name no other table has.
 */
export const columnPlaces = (): readonly ColumnPlaces[] => {
  const tables = tablesOfSource()
  const tablesWith = (column: string) => tables.filter(({ columns }) => columns.includes(column)).length
  return tables.flatMap(({ name, columns, folder }) => {
    const named = sources
      .filter(({ path }) => dirname(path) === folder)
      .flatMap(({ node }) => columnsNamed(node))
    return columns
      .filter((column) => tablesWith(column) === 1)
      .map((column) => ({
        column: `${name}.${column}`,
        places: named.filter((text) => text === column).length,
      }))
  })
}

const tablesOfSource = (): readonly DeclaredTable[] =>
  sources.flatMap(({ path, node }) =>
    [...nodesOf(node)].filter(isTable).map(({ arguments: [name, columns] }) => ({
      name: (name as ts.StringLiteral).text,
      columns: (columns as ts.ObjectLiteralExpression).properties.flatMap(
        // Spread ones are declared once elsewhere.
        ({ name: column }) => column?.getText() ?? [],
      ),
      folder: dirname(path),
    })),
  )

/** `table('name', { column: …, … }, …)` */
const isTable = (node: ts.Node): node is ts.CallExpression =>
  ts.isCallExpression(node) &&
  node.expression.getText() === 'table' &&
  node.arguments[0] !== undefined &&
  ts.isStringLiteral(node.arguments[0]) &&
  node.arguments[1] !== undefined &&
  ts.isObjectLiteralExpression(node.arguments[1])

const columnsNamed = (root: ts.Node): readonly string[] =>
  [...nodesOf(root)].flatMap((node) => {
    if (ts.isPropertySignature(node)) return [node.name.getText()]
    if (ts.isArrayLiteralExpression(node)) return isTable(node.parent) ? [] : node.elements.map(lastName)
    return ts.isObjectLiteralExpression(node) && isListOfColumns(node)
      ? node.properties.map(({ name }) => name?.getText() ?? '')
      : []
  })

/** That of a table, or a constant `…COLUMNS`. */
const isListOfColumns = ({ parent }: ts.Node): boolean => {
  if (ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent)) return isListOfColumns(parent)
  return isTable(parent) || (ts.isVariableDeclaration(parent) && /COLUMNS$/.test(parent.name.getText()))
}

const lastName = (node: ts.Expression): string => {
  if (ts.isStringLiteral(node) || ts.isIdentifier(node)) return node.text
  return ts.isPropertyAccessExpression(node) ? node.name.text : ''
}
