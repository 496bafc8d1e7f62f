// Wires engine, store and views; the flow is link or form -> store -> request -> worker -> report -> views.
import { h, redraw } from './dom.js';
import { answerFor, nearestAnswer } from './engine/answers.js';
import { Engine } from './engine/engine.js';
import { Questions } from './engine/questions.js';
import { Form } from './form/form.js';
import { readJson } from './host.js';
import { embed } from './report/embed.js';
import { exerciseBar } from './report/exercise.js';
import { header, linkOf } from './report/header.js';
import { meaning, openHelp } from './report/help.js';
import { showAnswers, showIssues } from './report/answers.js';
import { showRemarks } from './report/remarks.js';
import { byPath, restingOn, restsOn } from './report/derivation.js';
import { faultsText, tell } from './report/notice.js';
import { keepOffline } from './state/offline.js';
import { paper } from './report/print.js';
import { strip } from './report/strip.js';
import { drawTabs } from './report/tabs.js';
import { SCENES, sceneOf } from './scenes/index.js';
import { read, writeShort } from './state/link.js';
import { picksOf, requestOf, withoutIdle } from './state/scenario.js';
import { Store } from './state/store.js';
import { viewOf } from './state/view.js';
import { t, usePseudoLocale } from './text/strings.js';
import { setOutputs } from './text/outputs.js';

const LINK_DELAY = 200;
const byId = (id) => document.getElementById(id);
const scenes = SCENES.map(({ id }) => id);

class Page {
  engine = new Engine();
  questions = new Questions(this.engine, () => this.drawScene());
  report = null;
  issues = [];
  faulty = new Set();
  base = null;
  view = viewOf();
  revealed = false;
  explanations = null;
  lit = new Set(); // the figures that rest on the input in hand
  #parts = {};
  #choices = new Map();
  #data = new Map();
  #picks = '';
  #evaluated = null;
  #linkTimer = 0;
  #place = '';

  async start() {
    if (location.hash.includes('?')) this.engine.open();
    const [{ described, catalogue, report }, state] = await Promise.all([readJson('data/first_view.json'), read(location.hash, scenes)]);
    this.described = described;
    setOutputs(described.outputs);
    this.standard = report.scenario;
    sceneOf(state.scene).load?.();
    this.store = new Store(state);
    this.form = new Form(byId('form'), { store: this.store, described, catalogue, onconfig: () => this.later('import_model', 'importModel'), ondevice: () => this.later('own_device', 'ownDevice') });
    this.presetPaths = this.form.presetPaths;
    this.engine.know(this.requestFor({}), report);
    this.engine.onbusy = (busy) => byId('content').setAttribute('aria-busy', busy);
    header(byId('actions'), this);
    this.takeView();
    if (this.view.embedded) embed(document.querySelector('.foot'), () => this.linkWith({}));
    strip(byId('answers'));
    this.drawTabs();
    this.store.addEventListener('change', ({ detail }) => this.changed(detail));
    this.store.addEventListener('solve', ({ detail }) => this.solve(detail));
    window.addEventListener('popstate', () => this.follow());
    window.addEventListener('beforeprint', () => this.drawScene());
    byId('answers').addEventListener('click', (event) => this.openScene(event));
    byId('form').addEventListener('pointerover', (event) => this.markDependents(event.target.closest?.('[data-path]')?.dataset.path));
    byId('form').addEventListener('pointerleave', () => this.markDependents(undefined));
    byId('form').addEventListener('focusin', (event) => this.markDependents(event.target.closest('[data-path]')?.dataset.path));
    document.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.report && this.drawScene()).observe(byId('content'));
    this.tellFaults(state.faults);
    this.form.openFor(this.store.scene);
    this.drawForm();
    await this.evaluate();
    keepOffline((reload) =>
      this.notice(t('offline.update'), 0, h('button', { type: 'button', class: 'link', onclick: reload }, t('offline.reload'))),
    );
    setTimeout(() => this.prefetch().catch(() => {}), 300);
  }

  // Back, Forward, or a hash typed by hand.
  async follow() {
    const state = await read(location.hash, scenes);
    this.tellFaults(state.faults);
    this.store.load(state);
  }

  async solve(path) {
    const { openSolve } = await import('./form/solve.js');
    if (this.report) openSolve(this, path);
  }

  // What is fetched when it is first wanted, or once the first view stands.
  #fetchers = {
    import_model: () => import('./report/import_model.js'),
    own_device: () => import('./report/own_device.js'),
    sheet: () => import('./report/sheet.js'),
    export_menu: () => import('./report/export_menu.js'),
  };

  async later(module, name) {
    (await this.#fetchers[module]())[name](this);
  }

  async why(path) {
    const { Sheet } = await this.#fetchers.sheet();
    this.sheet ??= new Sheet(byId('sheet'), {
      explain: (one) => this.explain(one),
      toInput: (one) => this.form.focus(one),
      hasInput: (one) => this.form.has(one),
    });
    this.sheet.open(path);
  }

  // How the link asks the page to be shown; answers that it hides stay hidden until they are asked for.
  takeView() {
    this.view = viewOf(this.store.view);
    this.store.isLocked = this.view.isLocked;
    this.form.setView(this.view);
    const hides = this.view.hidesAnswers && !this.revealed;
    document.body.classList.toggle('answers-hidden', hides);
    document.body.classList.toggle('embedded', this.view.embedded);
    document.body.classList.toggle('no-form', this.view.embedded && !this.store.view.show);
    const bar = exerciseBar({
      view: this.view,
      revealed: this.revealed,
      reveal: () => this.reveal(),
      leave: () => this.store.setView({}),
    });
    byId('exercise').hidden = bar.length === 0;
    redraw(byId('exercise'), bar);
  }

  reveal() {
    this.revealed = true;
    this.takeView();
    this.draw();
    byId('content').querySelector('h1')?.focus();
  }

  changed({ push, source }) {
    if (source !== 'link') this.writeLink(push);
    if (source === 'link' || source === 'view') this.takeView();
    if (source !== 'edit') this.form.openFor(this.store.scene);
    this.drawTabs();
    if (source === 'scene') {
      const scene = sceneOf(this.store.scene);
      if (!scene.draw) {
        scene.load().then(() => scene === sceneOf(this.store.scene) && this.changed({ push: false, source }));
        return;
      }
      this.drawScene();
      const place = `${this.store.scene}/${this.store.sub.split('/')[0]}`;
      if (place !== this.#place) byId('content').querySelector('h1')?.focus({ preventScroll: true });
      this.#place = place;
      return;
    }
    if (this.store.inputs !== this.#evaluated) this.evaluate();
    else this.drawScene();
  }

  writeLink(push) {
    clearTimeout(this.#linkTimer);
    const write = async () => {
      const { default: standard, follows } = this.described;
      this.store.tidy(withoutIdle(standard, this.store.inputs, this.presetPaths, follows));
      const link = await writeShort(this.store.state);
      if (link !== location.hash) history[push ? 'pushState' : 'replaceState'](null, '', link);
    };
    if (push) write();
    else this.#linkTimer = setTimeout(write, LINK_DELAY);
  }

  requestFor(inputs) {
    return requestOf(this.described.default, inputs, this.presetPaths);
  }

  answerFor(inputs) {
    return answerFor(this.engine, this.requestFor(inputs));
  }

  async evaluate() {
    this.engine.dropWaiting();
    this.#evaluated = this.store.inputs;
    try {
      const picks = JSON.stringify(picksOf(this.store.inputs, this.presetPaths));
      const answer = await this.answerFor(this.store.inputs);
      if (!answer) return; // a later change took its place
      if (!this.report && answer.report.issues) {
        Object.assign(this, await nearestAnswer(this.engine, (inputs) => this.requestFor(inputs), this.store.inputs, answer.issues));
      }
      this.issues = answer.issues;
      this.faulty = answer.faulty;
      if (!answer.report.issues) {
        this.request = answer.request;
        this.report = answer.report;
        this.explanations = null;
        this.questions.clear();
      }
      this.draw();
      if (picks !== this.#picks) {
        const base = await this.answerFor(JSON.parse(picks));
        if (!base) return;
        this.#picks = picks;
        this.base = base.report.scenario ?? null;
        this.drawForm();
      }
      if (this.sheet?.path) this.sheet.refresh();
    } catch (error) {
      this.notice(t('app.stopped', { message: error.message }));
    }
  }

  // All explanations of the present report, asked once.
  async explain() {
    if (!this.explanations && this.request) {
      const request = this.request;
      const answer = await this.engine.call('evaluate', request, '*');
      if (request === this.request && answer?.explanations) this.explanations = byPath(answer.explanations);
    }
    return this.explanations;
  }

  context() {
    const { report, issues, faulty, base, store, request } = this;
    return {
      report,
      hidden: this.view.hidesAnswers && !this.revealed,
      issues,
      faulty,
      base,
      store,
      request,
      page: this,
      scenario: report.scenario,
      inputs: store.inputs,
      width: Math.max(260, byId('content').clientWidth),
      ask: (...args) => this.questions.ask(...args),
      lately: (...args) => this.questions.lately(...args),
      why: (path) => this.why(path),
      hover: (path) => this.markInputs(path),
      open: (scene, sub) => this.store.open(scene, sub),
      toInput: (path) => this.form.focus(path),
    };
  }

  draw() {
    if (this.report) {
      this.drawScene(); // first: it asks for its width while the page is still laid out
      showAnswers(byId('answers'), { ...this.report, faulty: this.faulty });
      showRemarks(byId('remarks'), this.report, this.form);
    }
    this.drawForm();
    const stale = this.issues.length > 0 && this.faulty.size === 0;
    showIssues(byId('issues'), { issues: this.issues, form: this.form, store: this.store, stale });
  }

  // Parts left out because of their issues keep the values they last had, so that they can be put right.
  drawForm() {
    const scenario = { ...(this.report?.scenario ?? this.base ?? requestOf(this.standard, this.store.inputs, this.presetPaths)) };
    for (const part of this.faulty) scenario[part] = this.#parts[part] ?? this.base?.[part] ?? this.requestFor(this.store.inputs)[part] ?? {};
    for (const part of Object.keys(scenario)) if (!this.faulty.has(part)) this.#parts[part] = scenario[part];
    this.form.show({ inputs: this.store.inputs, scenario, standard: this.base, issues: this.issues });
  }

  drawScene() {
    if (!this.report) return;
    const scene = sceneOf(this.store.scene);
    if (!scene.draw) return this.fetchScene(scene);
    redraw(byId('content'), scene.draw(this.context()));
    const { before, after } = paper({ inputs: this.store.inputs, link: location.href });
    byId('content').prepend(before);
    byId('content').append(after);
    this.lightFigures();
    document.title = `${t(`scene.${scene.id}`)} · Slipstick`;
  }

  // Draws again once the scene's module is there.
  fetchScene(scene) {
    scene.load().then(() => this.drawScene());
  }

  // The nodes of "SCENE" or "SCENE/VIEW" for another scene to show: none until its module is there.
  nodesOf(place) {
    const [id, sub = ''] = place.split('/');
    const scene = sceneOf(id);
    if (scene.draw) return scene.draw({ ...this.context(), sub });
    this.fetchScene(scene);
    return [];
  }

  drawTabs() {
    drawTabs(byId('tabs'), { scenes, chosen: this.store.scene, onopen: (event) => this.openScene(event) });
  }

  openScene(event) {
    const link = event.target.closest('[data-scene]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button > 0) return;
    event.preventDefault();
    this.store.open(link.dataset.scene);
  }

  async markDependents(path) {
    const explanations = path ? await this.explain() : null;
    this.lit = explanations ? restingOn(explanations, path) : new Set();
    this.lightFigures();
  }

  lightFigures() {
    for (const one of document.querySelectorAll('[data-figure]')) one.classList.toggle('lit', this.lit.has(one.dataset.figure));
  }

  async markInputs(path) {
    const explanations = path ? await this.explain() : null;
    this.form.highlight(explanations ? restsOn(explanations, path).inputs : new Set());
  }

  key(event) {
    const what = meaning(event);
    if (!what) return;
    event.preventDefault();
    if (what === 'undo') this.store.undo() && this.notice(t('undo.done'), 2000);
    else if (what === 'help') openHelp();
    else if (what === 'inputs') byId('form').querySelector('select, input')?.focus();
    else if (['copy', 'keep', 'export'].includes(what)) byId(what === 'copy' ? 'copy-link' : what).click();
    else this.store.open(what);
  }

  notice = (...all) => tell(byId('notice'), ...all);

  tellFaults(faults) {
    if (faults.length) this.notice(faultsText(faults));
  }

  // What a scene shows of a chart: not an input, so not in the link.
  chosen = (key) => this.#choices.get(key);
  choose(key, value) {
    this.#choices.set(key, value);
    this.drawScene();
  }

  // A data file of the site: undefined while it is on its way.
  data(path) {
    if (!this.#data.has(path)) {
      this.#data.set(path, undefined);
      readJson(path)
        .then((json) => {
          this.#data.set(path, json);
          const isWanted = ['lessons', 'method'].includes(this.store.scene) || path.startsWith('data/');
          if (isWanted) this.drawScene();
        })
        .catch(() => this.#data.delete(path));
    }
    return this.#data.get(path);
  }

  // Everything a scene may fetch later, so that the page works when the network is gone.
  async prefetch() {
    for (const scene of SCENES) await scene.load?.();
    for (const fetched of Object.values(this.#fetchers)) await fetched();
    // A change of an input drops what waits, so it is asked until it is answered.
    const catalogue = async () => (await this.engine.call('presets', '')) ?? catalogue();
    this.form.addSources(await catalogue());
    this.drawForm();
    const lessons = await readJson('lessons/index.json');
    for (const path of ['lessons/index.json', ...lessons.map((id) => `lessons/${id}.json`), 'data/published.json']) this.data(path);
  }

  linkWith = (view) => linkOf({ ...this.store.state, view });
}

if (new URLSearchParams(location.search).get('lang') === 'pseudo') usePseudoLocale();
const page = new Page();
page.start().catch((error) => {
  const read = h('a', { href: 'lessons.html' }, t('app.read'));
  byId('answers').querySelector('[role=status]').replaceChildren(t('app.broken', { message: error.message }), ' ', read);
});
