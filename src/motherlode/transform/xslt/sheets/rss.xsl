<?xml version="1.0" encoding="UTF-8"?>
<!-- RSS 0.91 to 2.0 in the vocabulary of RSS 1.0 with Dublin Core; described in docs/transforms.md.
     Time must be linear in the size of the document: no union of two long lists, no search through all siblings. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:rss="http://purl.org/rss/1.0/"
    xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:dcterms="http://purl.org/dc/terms/"
    xmlns:enc="http://purl.oclc.org/net/rss_2.0/enc#"
    xmlns:admin="http://webns.net/mvcb/"
    xmlns:atom="http://www.w3.org/2005/Atom"
    xmlns:f="urn:motherlode:functions"
    exclude-result-prefixes="atom f">

  <xsl:param name="base"/>
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:variable name="rdf">http://www.w3.org/1999/02/22-rdf-syntax-ns#</xsl:variable>
  <xsl:variable name="xsd">http://www.w3.org/2001/XMLSchema#</xsl:variable>
  <xsl:variable name="relations">http://www.iana.org/assignments/relation/</xsl:variable>

  <xsl:template match="/">
    <rdf:RDF>
      <xsl:apply-templates select="*/channel"/>
      <xsl:apply-templates select="*/channel/item" mode="whole"/>
      <xsl:apply-templates select="*/item" mode="whole"/>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="channel">
    <rss:channel rdf:about="{$base}">
      <xsl:call-template name="base"/>
      <xsl:apply-templates select="*"/>
      <xsl:if test="item or ../item">
        <rss:items>
          <rdf:Seq>
            <xsl:apply-templates select="item" mode="listed"/>
            <xsl:apply-templates select="../item" mode="listed"/>
          </rdf:Seq>
        </rss:items>
      </xsl:if>
    </rss:channel>
  </xsl:template>

  <xsl:template match="item" mode="listed">
    <rdf:li>
      <xsl:call-template name="name">
        <xsl:with-param name="attribute">rdf:resource</xsl:with-param>
      </xsl:call-template>
    </rdf:li>
  </xsl:template>

  <xsl:template match="item" mode="whole">
    <rss:item>
      <xsl:call-template name="base"/>
      <xsl:call-template name="name">
        <xsl:with-param name="attribute">rdf:about</xsl:with-param>
      </xsl:call-template>
      <xsl:apply-templates select="*"/>
    </rss:item>
  </xsl:template>

  <!-- The subject of an item is its link, otherwise its guid if that is a URL, otherwise a blank node. -->
  <xsl:template name="name">
    <xsl:param name="attribute"/>
    <xsl:variable name="link" select="normalize-space(link)"/>
    <xsl:variable name="guid" select="normalize-space(guid[not(@isPermaLink = 'false')])"/>
    <xsl:choose>
      <xsl:when test="$link != ''">
        <xsl:attribute name="{$attribute}"><xsl:value-of select="$link"/></xsl:attribute>
      </xsl:when>
      <xsl:when test="starts-with($guid, 'http:') or starts-with($guid, 'https:')">
        <xsl:attribute name="{$attribute}"><xsl:value-of select="$guid"/></xsl:attribute>
      </xsl:when>
      <xsl:otherwise>
        <xsl:attribute name="rdf:nodeID"><xsl:value-of select="generate-id()"/></xsl:attribute>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="base">
    <xsl:copy-of select="(ancestor-or-self::*/@xml:base)[last()]"/>
  </xsl:template>

  <xsl:template name="text">
    <xsl:copy-of select="(ancestor-or-self::*/@xml:lang)[last()]"/>
    <xsl:value-of select="."/>
  </xsl:template>

  <xsl:template name="date">
    <xsl:variable name="date" select="f:date(string(.))"/>
    <xsl:choose>
      <xsl:when test="$date != ''">
        <xsl:attribute name="rdf:datatype">
          <xsl:value-of select="$xsd"/>
          <xsl:choose>
            <xsl:when test="contains($date, 'T')">dateTime</xsl:when>
            <xsl:otherwise>date</xsl:otherwise>
          </xsl:choose>
        </xsl:attribute>
        <xsl:value-of select="$date"/>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="normalize-space()"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Other elements, such as those about the delivery of the feed, make no statements. -->
  <xsl:template match="*" priority="-2"/>

  <xsl:template match="title[normalize-space()]">
    <rss:title><xsl:copy-of select="(ancestor-or-self::*/@xml:lang)[last()]"/><xsl:value-of select="normalize-space()"/></rss:title>
  </xsl:template>
  <xsl:template match="link[normalize-space()]">
    <rss:link rdf:resource="{normalize-space()}"/>
  </xsl:template>
  <xsl:template match="description[normalize-space()]">
    <rss:description><xsl:call-template name="text"/></rss:description>
  </xsl:template>
  <xsl:template match="language[normalize-space()]">
    <dc:language><xsl:value-of select="normalize-space()"/></dc:language>
  </xsl:template>
  <xsl:template match="copyright[normalize-space()]">
    <dc:rights><xsl:call-template name="text"/></dc:rights>
  </xsl:template>
  <xsl:template match="author[normalize-space()] | managingEditor[normalize-space()]">
    <dc:creator><xsl:value-of select="normalize-space()"/></dc:creator>
  </xsl:template>
  <xsl:template match="webMaster[normalize-space()]">
    <admin:errorReportsTo><xsl:value-of select="normalize-space()"/></admin:errorReportsTo>
  </xsl:template>
  <xsl:template match="generator[normalize-space()]">
    <admin:generatorAgent><xsl:value-of select="normalize-space()"/></admin:generatorAgent>
  </xsl:template>
  <xsl:template match="pubDate[normalize-space()]">
    <dc:date><xsl:call-template name="date"/></dc:date>
  </xsl:template>
  <xsl:template match="lastBuildDate[normalize-space()]">
    <dcterms:modified><xsl:call-template name="date"/></dcterms:modified>
  </xsl:template>
  <xsl:template match="category[normalize-space()]">
    <dc:subject><xsl:copy-of select="(ancestor-or-self::*/@xml:lang)[last()]"/><xsl:value-of select="normalize-space()"/></dc:subject>
  </xsl:template>
  <xsl:template match="guid[normalize-space()]">
    <dc:identifier><xsl:value-of select="normalize-space()"/></dc:identifier>
  </xsl:template>
  <xsl:template match="comments[normalize-space()]">
    <rdfs:seeAlso rdf:resource="{normalize-space()}"/>
  </xsl:template>
  <xsl:template match="source[normalize-space(@url)]">
    <dc:source>
      <rdf:Description rdf:about="{normalize-space(@url)}">
        <xsl:if test="normalize-space()"><rss:title><xsl:value-of select="normalize-space()"/></rss:title></xsl:if>
      </rdf:Description>
    </dc:source>
  </xsl:template>
  <xsl:template match="enclosure[normalize-space(@url)]">
    <enc:enclosure>
      <rdf:Description rdf:about="{normalize-space(@url)}">
        <xsl:if test="@type"><enc:type><xsl:value-of select="@type"/></enc:type></xsl:if>
        <xsl:if test="@length"><enc:length><xsl:value-of select="@length"/></enc:length></xsl:if>
      </rdf:Description>
    </enc:enclosure>
  </xsl:template>
  <xsl:template match="image[normalize-space(url)]">
    <rss:image>
      <rss:image rdf:about="{normalize-space(url)}">
        <xsl:apply-templates select="*[self::title or self::link or self::description]"/>
        <rss:url rdf:resource="{normalize-space(url)}"/>
      </rss:image>
    </rss:image>
  </xsl:template>

  <!-- Links of Atom inside RSS: a registered relation is a property. -->
  <xsl:template match="atom:link[normalize-space(@href)]" priority="1">
    <xsl:variable name="rel" select="normalize-space(@rel)"/>
    <xsl:choose>
      <xsl:when test="$rel = '' or $rel = 'alternate'"><rss:link rdf:resource="{normalize-space(@href)}"/></xsl:when>
      <xsl:when test="translate($rel, 'abcdefghijklmnopqrstuvwxyz', '') = ''">
        <xsl:element name="{$rel}" namespace="{$relations}">
          <xsl:attribute name="rdf:resource"><xsl:value-of select="normalize-space(@href)"/></xsl:attribute>
        </xsl:element>
      </xsl:when>
      <xsl:otherwise><rdfs:seeAlso rdf:resource="{normalize-space(@href)}"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Elements of other namespaces become properties with their own names. -->
  <xsl:template match="*[namespace-uri() != '' and namespace-uri() != 'http://www.w3.org/1999/02/22-rdf-syntax-ns#' and not(*)]">
    <xsl:variable name="address" select="normalize-space((@rdf:resource | @href | @url)[1])"/>
    <xsl:if test="$address != '' or normalize-space() != ''">
      <xsl:element name="{local-name()}" namespace="{namespace-uri()}">
        <xsl:choose>
          <xsl:when test="$address != ''">
            <xsl:attribute name="rdf:resource"><xsl:value-of select="$address"/></xsl:attribute>
          </xsl:when>
          <xsl:when test="self::dc:date or self::dcterms:created or self::dcterms:issued or self::dcterms:modified">
            <xsl:call-template name="date"/>
          </xsl:when>
          <xsl:otherwise><xsl:call-template name="text"/></xsl:otherwise>
        </xsl:choose>
      </xsl:element>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
