/**
 * An immutable map in the order of its keys (by UTF-16 units). A changed map shares all but O(log n) of its
 * predecessor, so a fold over thousands of entries stays pure without copying them.
 */
export class OrderedMap<V> {
  constructor(private readonly root?: Node<V>) {}

  get isEmpty(): boolean {
    return this.root === undefined
  }

  get(key: string): V | undefined {
    return find(this.root, key)?.value
  }

  has(key: string): boolean {
    return find(this.root, key) !== undefined
  }

  set(key: string, value: V): OrderedMap<V> {
    return new OrderedMap(insert(this.root, key, value))
  }

  /** The entries behind `after` (which need not be a key), or all. */
  *entries(after?: string): Generator<readonly [string, V]> {
    const open: Node<V>[] = []
    let node = this.root
    for (;;) {
      while (node !== undefined) {
        const wanted = after === undefined || node.key > after
        if (wanted) open.push(node)
        node = wanted ? node.left : node.right
      }
      const next = open.pop()
      if (next === undefined) return
      yield [next.key, next.value]
      node = next.right
    }
  }
}

/** An AVL tree: the heights of two siblings differ by one at most. */
interface Node<V> {
  readonly key: string
  readonly value: V
  readonly left: Node<V> | undefined
  readonly right: Node<V> | undefined
  readonly height: number
}

type Tree<V> = Node<V> | undefined

const find = <V>(tree: Tree<V>, key: string): Tree<V> => {
  let node = tree
  while (node !== undefined && node.key !== key) node = key < node.key ? node.left : node.right
  return node
}

const insert = <V>(tree: Tree<V>, key: string, value: V): Node<V> => {
  if (tree === undefined) return join(undefined, key, value, undefined)
  if (key === tree.key) return { ...tree, value }
  return key < tree.key
    ? balance(insert(tree.left, key, value), tree, tree.right)
    : balance(tree.left, tree, insert(tree.right, key, value))
}

const heightOf = (tree: Tree<unknown>): number => tree?.height ?? 0

const join = <V>(left: Tree<V>, key: string, value: V, right: Tree<V>): Node<V> => ({
  key,
  value,
  left,
  right,
  height: Math.max(heightOf(left), heightOf(right)) + 1,
})

const under = <V>(left: Tree<V>, { key, value }: Node<V>, right: Tree<V>): Node<V> =>
  join(left, key, value, right)

const balance = <V>(left: Tree<V>, middle: Node<V>, right: Tree<V>): Node<V> => {
  const lean = heightOf(left) - heightOf(right)
  if (lean > 1) return leanRight(left!, middle, right)
  if (lean < -1) return leanLeft(left, middle, right!)
  return under(left, middle, right)
}

const leanRight = <V>(left: Node<V>, middle: Node<V>, right: Tree<V>): Node<V> => {
  const inner = left.right
  if (inner === undefined || heightOf(left.left) >= inner.height)
    return under(left.left, left, under(inner, middle, right))
  return under(under(left.left, left, inner.left), inner, under(inner.right, middle, right))
}

const leanLeft = <V>(left: Tree<V>, middle: Node<V>, right: Node<V>): Node<V> => {
  const inner = right.left
  if (inner === undefined || heightOf(right.right) >= inner.height)
    return under(under(left, middle, inner), right, right.right)
  return under(under(left, middle, inner.left), inner, under(inner.right, right, right.right))
}
