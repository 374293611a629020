import { Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { PROJECT_PAGES, projectHref, TEAM_PAGES } from './pages.js'
import { usePlace } from '../kit/place.js'
import { useNamedThings, type Target } from './named-things.js'
import { useProjects } from '../kit/project-switcher.js'

/** Goes to a page, a project, or the trace or call of a pasted id, by typing. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const { team, project } = usePlace()
  const { projects } = useProjects()
  const named = useNamedThings(team)
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const text = wanted.trim().toLowerCase()
  const all: readonly Target[] = [
    ...(project === '' ? [] : PROJECT_PAGES).map(({ label, path }) => ({
      label,
      group: project,
      href: projectHref(team, project, path),
    })),
    ...(team === '' ? [] : TEAM_PAGES).map(({ label, path }) => ({
      label,
      group: team,
      href: `/${team}/-/${path}`,
    })),
    ...named,
    { label: 'Account and API keys', group: 'Account', href: '/-/account' },
    ...projects.map((one) => ({
      label: `${one.team} / ${one.name}`,
      group: 'Project',
      href: projectHref(one.team, one.name, ''),
    })),
  ]
  const byId: readonly Target[] =
    project !== '' && /^[\w-]{8,}$/.test(wanted.trim())
      ? [
          {
            label: `Call or trace ${wanted.trim()}`,
            group: project,
            href: `/${team}/${project}/calls/${encodeURIComponent(wanted.trim())}`,
          },
        ]
      : []
  const found = [...all.filter(({ label }) => label.toLowerCase().includes(text)), ...byId].slice(0, 12)
  const go = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    void navigate({ href: target.href })
  }
  const press = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
    const move = moves[event.key]
    if (move !== undefined) {
      event.preventDefault()
      setAt((at + move + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter') go(found[at])
  }
  return (
    <Modal opened onClose={onClose} title="Go to" padding="sm" yOffset="10vh">
      <TextInput
        aria-label="Page, project, or the id of a trace or call"
        placeholder="Page, project, or the id of a trace or call"
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={`palette-${at}`}
        data-autofocus
        value={wanted}
        onChange={(event) => {
          setWanted(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div id="palette" role="listbox" aria-label="Results" style={{ marginTop: 8 }}>
        {found.map((target, n) => (
          <div
            key={`${target.group} ${target.label} ${target.href}`}
            id={`palette-${n}`}
            role="option"
            aria-selected={n === at}
            className="palette-option"
            onMouseMove={() => setAt(n)}
            onClick={() => go(target)}
          >
            <span>{target.label}</span>
            <span className="secondary">{target.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="secondary">Nothing has this name.</p>}
    </Modal>
  )
}
